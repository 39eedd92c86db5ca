/**
 * The manifest holds the sums of every file, so somebody who can write a manifest can change everything. Checksums
 * alone detect damage; a seal detects changes by somebody without the keys. Both come from outside: this room knows no
 * keys.
 */

/** Asked before anything is copied, so that a key which is missing is told at once. Gives what seals the text. */
export type SealManifest = (rootKeyId: string | undefined) => (text: string) => string;

/** Throws unless the text is as it was sealed. The seal is undefined where the folder has none. */
export type CheckSeal = (text: string, seal: string | undefined) => void;
