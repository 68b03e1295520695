/** The files of a colon list, as PATH is one. */
export const pathList = (text: string): string[] =>
  text
    .split(':')
    .map((file) => file.trim())
    .filter((file) => file !== '')
