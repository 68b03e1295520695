import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openProcessFolders } from './process-folders.ts'

async function aRoot(name = 'pf-'): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), name))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  return root
}

async function open(root: string) {
  const folders = await openProcessFolders(root)
  onTestFinished(() => folders[Symbol.asyncDispose]())
  return folders
}

/** What a process left that was last alive so many minutes ago. */
async function aFolder(folder: string, minutesAgo: number, file = 'alive'): Promise<void> {
  await mkdir(folder)
  await writeFile(path.join(folder, file), '')
  const at = new Date(Date.now() - minutesAgo * 60_000)
  await utimes(path.join(folder, file), at, at)
  await utimes(folder, at, at)
}

test('who is alive is told by the last beat, not by a host name and a process id', async () => {
  const root = await aRoot()
  const host = hostname()
    .replace(/[^A-Za-z0-9]+/g, '')
    .slice(0, 12)
  await aFolder(path.join(root, `p-${host}-4194305-0a0b0c0d`), 14) // another container, whose processes we do not see
  await aFolder(path.join(root, `p-${host}-${process.pid}-0a0b0c0d`), 16) // a killed predecessor, which was the same pid
  await aFolder(path.join(root, 'p-0123456789ab'), 16, 'without-a-beat')
  await aFolder(path.join(root, 'something-else'), 16)
  const { caches } = await open(root)
  expect((await readdir(root)).sort()).toEqual(
    [path.basename(caches), `p-${host}-4194305-0a0b0c0d`, 'something-else'].sort(),
  )
})

test('any number may share a root', async () => {
  const root = await aRoot()
  const all = await Promise.all(Array.from({ length: 5 }, () => open(root)))
  for (const { caches, secrets } of all) for (const folder of [caches, secrets]) await stat(path.join(folder, 'alive'))
  expect(new Set(all.map(({ caches }) => caches)).size).toBe(5)
})

test("a killed one's copy of the key in the temporary directory goes too", async () => {
  const left = path.join(tmpdir(), `watcher-git-${Date.now().toString(16)}`)
  await aFolder(left, 16)
  await writeFile(path.join(left, 'key'), 'secret')
  const { secrets } = await open(await aRoot('a-root-whose-name-is-too-long-for-the-sockets-of-a-connection-'))
  expect(path.dirname(secrets)).toBe(tmpdir())
  await expect(stat(left)).rejects.toMatchObject({ code: 'ENOENT' })
})

test('what was deleted is made again, and removed at the end', async () => {
  const root = await aRoot()
  const folders = await open(root)
  await rm(root, { recursive: true })
  await folders.ensure()
  expect((await stat(path.join(folders.secrets, 'home'))).mode & 0o777).toBe(0o700)
  await folders[Symbol.asyncDispose]()
  expect(await readdir(root)).toEqual([])
})

test('a folder of another user in the place of ours is not used', async () => {
  const folders = await open(await aRoot())
  await rm(folders.secrets, { recursive: true })
  await writeFile(folders.secrets, '')
  await expect(folders.ensure()).rejects.toThrow('remove it')
})

test('what a command still writes does not hinder the end, and nothing is made again after it', async () => {
  const folders = await openProcessFolders(await aRoot())
  const clone = path.join(folders.caches, 'clone')
  await mkdir(clone)
  const writing = (async () => {
    for (const beganMs = performance.now(); performance.now() - beganMs < 300; )
      await writeFile(path.join(clone, `${performance.now()}`), '')
  })().catch(() => undefined) // its folder is gone
  await folders[Symbol.asyncDispose]()
  await writing
  await expect(folders.ensure()).rejects.toThrow('closed')
  for (const folder of [folders.caches, folders.secrets])
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' })
})
