import { hideSecrets } from '../../../secrets/hide-secrets.ts'

const maxBytes = 2048

/** Makes git's or a hook's words fit to be shown: no secret, no control characters, at most 2 KiB. */
export function redactGitText(text: string, secrets: readonly string[]): string {
  const shown = hideSecrets(text, secrets)
    .replace(/:\/\/[^/@\s]+@/g, '://<redacted>@')
    .replace(/\b(?:gh[pousr]_|github_pat_|glpat-|dwt_|xox[abp]-)[\w-]{8,}/g, '<redacted>')
    .replace(/\b(bearer|basic|token|password)([ =:]+)\S{8,}/gi, '$1$2<redacted>')
    .replace(/\p{Cc}\[[0-9;?]*[A-Za-z]/gu, '')
    .replace(/[^\P{Cc}\n]/gu, '')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()
  return Buffer.from(shown)
    .subarray(0, maxBytes)
    .toString()
    .replace(/\ufffd$/, '')
}

/** What the server's hooks said: the lines that git marks with `remote:`. */
export function hookText(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('remote:'))
    .map((line) => line.slice('remote:'.length).trim())
    .filter((line) => line !== '')
    .join('\n')
}

/** Why the server could not unpack a push: the bare reason of its report leaves that out. */
export function unpackText(reason: string, stderr: string): string {
  const unpack = /^error: (remote unpack failed: .*)$/m.exec(stderr)?.[1]
  return [reason, unpack, hookText(stderr)].filter(Boolean).join('\n')
}
