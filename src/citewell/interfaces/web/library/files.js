/**
 * Files as people drop or choose them, folders included.
 *
 * The one rule: in a collection a name means one document, so files of one name in several folders are sent under names that say
 * the folder; none of them replaces another.
 */

/** @typedef {{file: File, name: string}} Sent A file, and the name it is sent under. */
/** @typedef {{file: File, path: string}} Found A file, and where in what was dropped it lay. */

const HIDDEN = /^(\.|~\$|Thumbs\.db$|desktop\.ini$|__MACOSX$)/i;
export const MOST_BYTES = 48 * 1024 * 1024; // of one request that holds several files
export const MOST_FILES = 200; // of one request

/**
 * What was dropped, as files. The entries must be taken before anything is awaited: the browser forgets them.
 * @param {DataTransfer} transfer
 * @returns {Promise<Found[]>}
 */
export async function dropped(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some(Boolean)) return [...transfer.files].map((file) => ({ file, path: file.name }));
  const found = await Promise.all(entries.map((entry) => (entry ? walked(entry, "") : [])));
  return found.flat();
}

/**
 * What a file field holds. @param {FileList | null} list @returns {Found[]}
 */
export function chosen(list) {
  return [...(list ?? [])]
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
    .filter(({ path }) => !path.includes("/") || !path.split("/").some((part) => HIDDEN.test(part)));
}

/** @param {FileSystemEntry} entry @param {string} above @returns {Promise<Found[]>} */
async function walked(entry, above) {
  const path = above ? `${above}/${entry.name}` : entry.name;
  if (above && HIDDEN.test(entry.name)) return [];
  if (entry.isFile) return [{ file: await fileOf(/** @type {FileSystemFileEntry} */ (entry)), path }];
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {Found[]} */
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed)); // a hundred at a time
    if (!some.length) return found;
    for (const each of some) found.push(...(await walked(each, path)));
  }
}

/** @param {FileSystemFileEntry} entry @returns {Promise<File>} */
function fileOf(entry) {
  return new Promise((done, failed) => entry.file(done, failed));
}

/**
 * The name of each file; where several are of one name, their folders stand before it.
 * @param {Found[]} found
 * @returns {Sent[]}
 */
export function named(found) {
  const times = new Map();
  for (const { path } of found) times.set(base(path), (times.get(base(path)) ?? 0) + 1);
  return found.map(({ file, path }) => ({ file, name: times.get(base(path)) > 1 ? path.replaceAll("/", " - ") : base(path) }));
}

/** @param {string} path */
function base(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * Requests that are neither too large nor too many files; a large file is one alone.
 * @param {Sent[]} files
 * @returns {Sent[][]}
 */
export function batches(files) {
  /** @type {Sent[][]} */
  const made = [];
  let [room, bytes] = [0, 0];
  for (const each of files) {
    if (!made.length || room >= MOST_FILES || bytes + each.file.size > MOST_BYTES) {
      made.push([]);
      [room, bytes] = [0, 0];
    }
    made.at(-1)?.push(each);
    room += 1;
    bytes += each.file.size;
  }
  return made;
}
