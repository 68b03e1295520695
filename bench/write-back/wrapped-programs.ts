import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findProgram } from './find-program.ts'

/** A `git` that writes GIT_DIR and its arguments into `git.log` of the folder first. @returns the folder it lies in */
export function noteGitCommands(folder: string): Promise<string> {
  return wrapProgram(folder, 'git', [`printf '%s\\t%s\\n' "$GIT_DIR" "$*" >> '${path.join(folder, 'git.log')}'`])
}

/** An `ssh` that does as if nothing answered while the folder has a file `is-cut-off`. @returns the folder it lies in */
export function breakableSsh(folder: string): Promise<string> {
  return wrapProgram(folder, 'ssh', [
    `if [ -e '${path.join(folder, 'is-cut-off')}' ]; then`,
    '  sleep 6',
    '  echo "ssh: connect to host 127.0.0.1 port 22: Connection timed out" >&2',
    '  exit 255',
    'fi',
  ])
}

async function wrapProgram(folder: string, name: string, before: readonly string[]): Promise<string> {
  const programs = path.join(folder, 'bin')
  await mkdir(programs, { recursive: true })
  const script = ['#!/bin/sh', ...before, `exec '${findProgram(name)}' "$@"\n`]
  await writeFile(path.join(programs, name), script.join('\n'), { mode: 0o755 })
  return programs
}
