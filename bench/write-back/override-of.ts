/** An override file of about so many bytes, with the tag among many parameters. */
export function overrideOf(bytes: number): string {
  const head = 'helm:\n  parameters:\n    - name: image.tag\n      value: "v0"\n      forceString: true\n'
  const parameter = (at: number) => `    - name: settings.value${at}\n      value: "a value of some length ${at}"\n`
  const lines: string[] = []
  for (let length = head.length, at = 0; length < bytes; at += 1) {
    const line = parameter(at)
    lines.push(line)
    length += line.length
  }
  return `${head}${lines.join('')}`
}
