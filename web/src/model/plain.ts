// What the command says to those who type it, in the words of the page.

/** Options that the page has a field for. */
const FIELDS: Record<string, string> = {
  target: "Target", in: "World", client: "Clients", method: "Method", header: "Headers", session: "Session of", cookie: "Headers", count: "Count", seed: "Seed",
  from: "From", san: "Certificate for", "over-tls": "TLS", run: "Test",
};

/** A message with the names of fields in the place of options; advice that needs an option of the terminal alone is left out. */
export function plainly(message: string): string {
  const named = message.replace(/^xdsctl: /gm, "")
    .replace(/`?--([a-z][a-z-]*)(?:[= ](?:[A-Z]{2,}|<[^>]*>))?`?/g, (whole, name: string) => (FIELDS[name] === undefined ? whole : `"${FIELDS[name]}"`));
  return named.split("\n").map((line) => line.split("; ").filter((clause, index) => index === 0 || !/(^|\s)--[a-z]/.test(clause)).join("; ")).join("\n");
}
