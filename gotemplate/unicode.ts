/** Go 1.26 knows Unicode 15.0. What later editions have added, up to that of Node 24, is unknown to it. */
const addedLater = `
  88f 897 c5c cdc 1acf-1add 1ae0-1aeb 1b4e-1b4f 1b7f 1c89-1c8a 20c1 2427-2429 2b96 2ffc-2fff 31e4-31e5 31ef
  a7cb-a7cf a7d2 a7d4 a7da-a7dc a7f1 fbc3-fbd2 fd90-fd91 fdc8-fdce 105c0-105f3 10940-10959 10d40-10d65
  10d69-10d85 10d8e-10d8f 10ec2-10ec7 10ed0-10ed8 10efa-10efc 11380-11389 1138b 1138e 11390-113b5
  113b7-113c0 113c2 113c5 113c7-113ca 113cc-113d5 113d7-113d8 113e1-113e2 116d0-116e3 11b60-11b67
  11bc0-11be1 11bf0-11bf9 11db0-11ddb 11de0-11de9 11f5a 13460-143fa 16100-16139 16d40-16d79 16ea0-16eb8
  16ebb-16ed3 16ff2-16ff6 187f8-187ff 18cff 18d09-18d1e 18d80-18df2 1cc00-1ccfc 1cd00-1ceb3 1ceba-1ced0
  1cee0-1cef0 1e5d0-1e5fa 1e5ff 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff 1f6d8 1f777-1f77a 1f8b2-1f8bb
  1f8c0-1f8c1 1f8d0-1f8d8 1fa54-1fa57 1fa89-1fa8a 1fa8e-1fa8f 1fabe 1fac6 1fac8 1facd 1fadc 1fadf
  1fae9-1faea 1faef 1fbcb-1fbef 1fbfa 2b73a-2b73f 2cea2-2cead 2ebf0-2ee5d 323b0-33479
`
const laterRanges = addedLater
  .trim()
  .split(/\s+/)
  .map((range) => {
    const [first = '', last = first] = range.split('-')
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const
  })

const isKnown = (code: number) => code < 0x80 || !laterRanges.some(([first, last]) => first <= code && code <= last)
const matches = (pattern: RegExp, code: number) =>
  code >= 0 && pattern.test(String.fromCodePoint(code)) && isKnown(code)

/** Go's unicode.IsPrint. */
export const isPrint = (code: number): boolean => matches(/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u, code)

/** What an identifier is made of: `_`, unicode.IsLetter and unicode.IsDigit. */
export const isAlphaNumeric = (code: number): boolean => matches(/[_\p{L}\p{Nd}]/u, code)
