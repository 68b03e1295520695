const armour = /^-----BEGIN ([A-Z ]*)PRIVATE KEY-----\n([\s\S]+?)\n-----END \1PRIVATE KEY-----\s*$/

/**
 * Says what is wrong with the text of a private key file, or nothing. Line ends and the file's mode are no fault: the key
 * is copied before ssh sees it.
 */
export function checkSshKey(text: string, passphraseSetting: string, hasPassphrase: boolean): string | undefined {
  const key = text.replaceAll('\r\n', '\n').trim()
  if (/^(ssh-|ecdsa-|sk-)\S+ /.test(key)) return 'contains a public key: use the private key'
  const [, kind = '', body = ''] = armour.exec(key) ?? []
  if (body === '') return 'does not hold a private key (-----BEGIN … PRIVATE KEY-----)'
  if (isEncrypted(kind, body) && !hasPassphrase) return `holds an encrypted key: set ${passphraseSetting}`
  return undefined
}

/** OpenSSH's own format names the cipher after its magic text; PEM says it in a header or in the armour. */
function isEncrypted(kind: string, body: string): boolean {
  if (!kind.startsWith('OPENSSH')) return kind.startsWith('ENCRYPTED') || /^Proc-Type: 4,ENCRYPTED/m.test(body)
  const magic = Buffer.from('openssh-key-v1\0')
  const bytes = Buffer.from(body, 'base64')
  if (bytes.length < magic.length + 4) return false
  const length = bytes.readUInt32BE(magic.length)
  return bytes.toString('latin1', magic.length + 4, magic.length + 4 + length) !== 'none'
}
