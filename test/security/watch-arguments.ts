import { readdirSync, readFileSync } from 'node:fs'

/** Notes the command lines of git and ssh processes while it runs. */
export function watchArguments() {
  const seen = new Set<string>()
  const look = () => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const line = commandLineOf(pid)
      if (/^(?:\S*\/)?(?:git|ssh)/.test(line)) seen.add(line)
    }
  }
  const looking = setInterval(look, 5)
  return {
    seen: (): readonly string[] => [...seen],
    [Symbol.dispose]: () => clearInterval(looking),
  }
}

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return '' // it has ended
  }
}
