// @ts-check
/**
 * Runs the command, compiled to WebAssembly, on files in memory.
 *
 * Each run is a process of its own: a new instance with empty memory, which sees these files and nothing else. So the answer is that
 * of the command line, and what one run leaves behind cannot reach the next.
 */
import { Directory, Fd, File, Inode, OpenFile, PreopenDirectory, WASI, wasi } from "@bjorn3/browser_wasi_shim";

/** What is written, in the order in which it is written; a pipe, no terminal. */
class Sink extends Fd {
  decoder = new TextDecoder();
  written = "";

  /** @param {(part: string) => void} [heard] hears each part when it is written */
  constructor(heard = () => {}) {
    super();
    this.heard = heard;
  }

  fd_filestat_get() {
    return { ret: 0, filestat: new wasi.Filestat(Inode.issue_ino(), wasi.FILETYPE_SOCKET_STREAM, 0n) };
  }

  fd_fdstat_get() {
    const fdstat = new wasi.Fdstat(wasi.FILETYPE_SOCKET_STREAM, 0);
    fdstat.fs_rights_base = BigInt(wasi.RIGHTS_FD_WRITE);
    return { ret: 0, fdstat };
  }

  /** @param {Uint8Array} data */
  fd_write(data) {
    const part = this.decoder.decode(data, { stream: true });
    this.written += part;
    this.heard(part);
    return { ret: 0, nwritten: data.byteLength };
  }

  text() {
    return this.written + this.decoder.decode();
  }
}

/** A file whose bytes are copied once, into the memory of the command: the shim copies them three times, and a dump may have a hundred megabytes. */
class Shared extends File {
  /** @type {File["path_open"]} */
  path_open(...how) {
    const made = super.path_open(...how);
    if (made.fd_obj !== null) {
      made.fd_obj.fd_read = (size) => {
        const from = Number(made.fd_obj.file_pos);
        const data = this.data.subarray(from, from + size);
        made.fd_obj.file_pos += BigInt(data.length);
        return { ret: 0, data };
      };
    }
    return made;
  }
}

/** @param {Uint8Array} bytes */
function file(bytes) {
  const made = new Shared([]);
  made.data = bytes;
  return made;
}

/**
 * The files as directories. A name that leads out of the root is left out.
 * @param {Iterable<[string, Uint8Array]>} files
 */
function tree(files) {
  /** @type {Map<string, any>} */
  const root = new Map();
  for (const [path, bytes] of files) {
    const parts = path.split("/").filter((part) => part !== "" && part !== ".");
    const name = parts.pop();
    if (name === undefined || name === ".." || parts.includes("..")) continue;
    let at = root;
    for (const part of parts) {
      let next = at.get(part);
      if (!(next instanceof Directory)) {
        next = new Directory(new Map());
        at.set(part, next);
      }
      at = next.contents;
    }
    at.set(name, file(bytes));
  }
  return root;
}

/**
 * @typedef {object} Answer
 * @property {number} code exit code
 * @property {string} out standard output
 * @property {string} err standard error
 */

/**
 * @param {WebAssembly.Module} module
 * @param {string[]} args without the program's name
 * @param {Iterable<[string, Uint8Array]>} files by path, below the directory where the command runs
 * @param {Uint8Array} [input] standard input
 * @param {(part: string) => void} [heard] hears each part of the output when it is written
 * @returns {Answer}
 */
export function run(module, args, files, input = new Uint8Array(), heard = undefined) {
  const out = new Sink(heard);
  const err = new Sink();
  const root = new PreopenDirectory("/", tree(files));
  const process = new WASI(["xdsctl", ...args], [], [new OpenFile(file(input)), out, err, root], { debug: false });
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: process.wasiImport });
  const code = process.start(/** @type {any} */ (instance));
  return { code, out: out.text(), err: err.text() };
}
