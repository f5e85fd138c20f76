// Starts `xdsctl lsp` when a document of xDS configuration is open, and shows it no other.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { isConfiguration } = require("./recognise.js");

const LANGUAGES = ["yaml", "json", "jsonc", "toml", "plaintext", "textproto"];

let client;
// Documents that the server has been told of: what was configuration once stays so while it is open.
const told = new Set();

function isMeant(document) {
  if (told.has(document.uri.toString())) {
    return true;
  }
  return LANGUAGES.includes(document.languageId) && isConfiguration(document.fileName, document.getText());
}

async function start() {
  const settings = vscode.workspace.getConfiguration("xdsctl");
  const rest = settings.get("arguments", []);
  const command = settings.get("path", "xdsctl");
  const run = { command, args: ["lsp", ...(rest.length > 0 ? ["--", ...rest] : [])] };
  client = new LanguageClient(
    "xdsctl",
    "xdsctl",
    { run, debug: run },
    {
      documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{json,yaml,yml,toml,textproto,pb,binpb}") },
      middleware: {
        didOpen: async (document, next) => {
          if (isMeant(document)) {
            told.add(document.uri.toString());
            await next(document);
          }
        },
        didChange: async (event, next) => {
          const key = event.document.uri.toString();
          if (told.has(key)) {
            await next(event);
          } else if (isMeant(event.document)) {
            // It has become configuration while it was written.
            told.add(key);
            const item = client.code2ProtocolConverter.asOpenTextDocumentParams(event.document);
            await client.sendNotification("textDocument/didOpen", item);
          }
        },
        didClose: async (document, next) => {
          if (told.delete(document.uri.toString())) {
            await next(document);
          }
        },
        didSave: async (document, next) => {
          if (told.has(document.uri.toString())) {
            await next(document);
          }
        },
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const answer = await vscode.window.showErrorMessage(
      `xdsctl cannot be started as \`${command}\`: ${error.message ?? error}`,
      "Open the setting",
    );
    if (answer) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "xdsctl.path");
    }
  }
}

async function stop() {
  told.clear();
  const stopped = client;
  client = undefined;
  await stopped?.stop();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("xdsctl.restart", async () => {
      await stop();
      await start();
    }),
    vscode.commands.registerCommand("xdsctl.showReferences", async (uri, position) => {
      const at = new vscode.Position(position.line, position.character + 1);
      const document = vscode.Uri.parse(uri);
      const places = await vscode.commands.executeCommand("vscode.executeReferenceProvider", document, at);
      await vscode.commands.executeCommand("editor.action.showReferences", document, at, places);
    }),
    vscode.workspace.onDidOpenTextDocument(async (document) => {
      if (!client && isMeant(document)) {
        await start();
      }
    }),
    // A document that is written from nothing becomes configuration while it is open.
    vscode.workspace.onDidChangeTextDocument(async ({ document }) => {
      if (!client && isMeant(document)) {
        await start();
      }
    }),
  );
  if (vscode.workspace.textDocuments.some(isMeant)) {
    await start();
  }
}

module.exports = { activate, deactivate: stop };
