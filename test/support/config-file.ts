import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** A configuration file that changes as a ConfigMap does: from one moment to the next it is another file. */
export function openConfigFile(content: object) {
  const folder = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-config-'))
  const file = path.join(folder, 'config.yaml')
  const write = (text: string) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  write(JSON.stringify(content))
  return {
    file,
    write: (next: object | string) => write(typeof next === 'string' ? next : JSON.stringify(next)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}
