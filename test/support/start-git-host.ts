import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openBareRepository } from '../../simulator/git-host/bare-repository.ts'
import { loadHostKeys } from '../../simulator/git-host/host-keys.ts'
import { runGit } from '../../simulator/git-host/run-git.ts'
import { startSshGitHost } from '../../simulator/git-host/ssh-git-host.ts'

/** The simulator's Git host in a temporary folder, with what tests do to repositories behind our back. */
export async function startGitHost() {
  const folder = await mkdtemp(path.join(tmpdir(), 'git-host-'))
  const keys = loadHostKeys(path.join(folder, 'keys'))
  const host = await startSshGitHost({ folder, keys })
  const directory = (name: string) => path.join(folder, name)
  const git = async (name: string, ...args: string[]) => (await runGit(directory(name), args)).trimEnd()

  /** Commits as somebody else would, straight on the branch `main`. */
  async function commitFiles(name: string, files: Record<string, string>, message = 'rival'): Promise<string> {
    return (await openBareRepository(directory(name))).commit(files, { message })
  }

  return {
    port: host.port,
    folder,
    keyPath: keys.clientKeyPath,
    knownHostsPath: keys.knownHostsPath,
    directory,
    git,
    commitFiles,
    createRepository: (name: string, files: Record<string, string>) => commitFiles(name, files, 'first'),
    setFault: host.setFault,
    url: (name: string) => `ssh://git@127.0.0.1:${host.port}/${name}`,
    /** The same host at another port, where a proxy listens. */
    async through(port: number) {
      const knownHostsPath = path.join(folder, `known_hosts-${port}`)
      await writeFile(
        knownHostsPath,
        (await readFile(keys.knownHostsPath, 'utf8')).replace(`:${host.port}`, `:${port}`),
      )
      return { knownHostsPath, url: (name: string) => `ssh://git@127.0.0.1:${port}/${name}` }
    },
    /** Service and repository of every command that clients ran so far. */
    commands: () => host.commands().map(({ service, repository }) => `${service} ${repository}`),
    /** A tree object from lines of `<mode> <type> <id>\t<name>`. */
    makeTree: async (name: string, lines: string) =>
      (await runGit(directory(name), ['mktree', '--missing'], `${lines}\n`)).trim(),
    /** An object as it comes, also one that git itself would not make. */
    async storeObject(name: string, type: 'commit' | 'tree', body: Buffer): Promise<string> {
      const file = path.join(folder, `${name}.object`)
      await writeFile(file, body)
      return (await runGit(directory(name), ['hash-object', '-t', type, '-w', '--literally', file])).trim()
    },
    stopListening: host.stopListening,
    listenAgain: host.listenAgain,
    async [Symbol.asyncDispose]() {
      await host.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type GitHost = Awaited<ReturnType<typeof startGitHost>>
