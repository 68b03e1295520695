import { readFileSync } from 'node:fs'

/**
 * Calls back when the npm that started us is gone. npm gives a signal to the shell between us, which ends without
 * passing it on; and a killed npm leaves that shell waiting for us.
 *
 * @param {() => void} onEnd
 */
export function watchNpm(onEnd) {
  if (!process.env.npm_lifecycle_event) return
  const atStart = starters()
  setInterval(() => starters() === atStart || onEnd(), 500).unref()
}

/** The process ids of our parent and, where it can be read, of the parent's parent. */
const starters = () => `${process.ppid} ${parentOf(process.ppid)}`

/** @param {number} pid */
function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')')).split(' ')[2]
  } catch {
    return ''
  }
}
