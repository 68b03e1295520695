import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { checkout, environmentOf, type Instruction, ignored, parseDockerfile, type Stage } from './dockerfile.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the root of each stage lies. */
    imageRoots: string
  }
}

/**
 * Runs the steps of the Dockerfile without a container engine: the base is a Debian of debootstrap with this Node, each
 * stage is a copy of the one that it is made from, and RUN is a chroot.
 */
export default async function buildImage(project: TestProject): Promise<() => Promise<void>> {
  requirePrograms()
  const roots = mkdtempSync(path.join(tmpdir(), 'deployment-watcher-image-'))
  chmodSync(roots, 0o755) // the service runs from there as another user
  const remove = () => rm(roots, { recursive: true, force: true })
  try {
    timed('base', () => makeBase(path.join(roots, 'image')))
    for (const stage of parseDockerfile()) timed(stage.name, () => makeStage(roots, stage))
  } catch (error) {
    await remove()
    throw error
  }
  project.provide('imageRoots', roots)
  return remove
}

function requirePrograms(): void {
  if (process.getuid?.() !== 0) throw new Error('root is needed: debootstrap and chroot make the root of the image')
  const missing = ['debootstrap', 'bwrap'].filter((name) => spawnSync(name, ['--help']).error !== undefined)
  if (missing.length > 0) throw new Error(`${missing.join(', ')} not found: apt-get install debootstrap bubblewrap`)
}

function timed(name: string, make: () => void): void {
  const beganMs = performance.now()
  make()
  console.log(`image: ${name} ${((performance.now() - beganMs) / 1000).toFixed(1)} s`)
}

function run(program: string, args: readonly string[], input?: Buffer): Buffer {
  const { status, stdout, stderr, error } = spawnSync(program, args, { input, maxBuffer: 2 ** 30 })
  if (status === 0) return stdout
  throw new Error(
    `${program} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}\n${stdout.subarray(-2000)}${stderr}`,
  )
}

/** A proxy of this machine may have authorities of its own. */
const authorities = process.env.NODE_EXTRA_CA_CERTS
const authoritiesInside = '/usr/local/share/extra-authorities.crt'

/** What node:24-bookworm-slim has. */
function makeBase(root: string): void {
  run('debootstrap', ['--variant=minbase', 'bookworm', root])
  cpSync('/etc/resolv.conf', path.join(root, 'etc/resolv.conf'), { dereference: true })
  if (authorities) cpSync(authorities, path.join(root, authoritiesInside), { dereference: true })
  cpSync(process.execPath, path.join(root, 'usr/local/bin/node'))
  const npm = path.resolve(process.env.npm_execpath ?? '', '../..')
  if (!existsSync(path.join(npm, 'bin/npm-cli.js')))
    throw new Error('npm not found: start this with "npm run test:image"')
  cpSync(npm, path.join(root, 'usr/local/lib/node_modules/npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', path.join(root, 'usr/local/bin/npm'))
}

function makeStage(roots: string, stage: Stage): void {
  const root = path.join(roots, stage.name)
  const from = stage.from.startsWith('$') ? 'image' : stage.from
  run('cp', ['-a', '--reflink=auto', path.join(roots, from), root])
  for (const instruction of stage.instructions) follow(instruction)

  function follow({ name, text }: Instruction): void {
    if (name === 'WORKDIR') mkdirSync(path.join(root, text), { recursive: true })
    else if (name === 'RUN') runInside(root, text, environmentOf(stage))
    else if (name === 'COPY') copy(text)
    else if (!['ARG', 'ENV', 'USER', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'].includes(name))
      throw new Error(`the Dockerfile has an instruction that this test does not know: ${name}`)
  }

  function copy(text: string): void {
    const [, other, paths = text] = /^--from=(\w+) (.*)$/.exec(text) ?? []
    const sources = paths.split(' ')
    const target = path.join(root, workFolder, sources.pop() ?? '')
    if (other) cpSync(path.join(roots, other, sources[0] ?? ''), target, { recursive: true, verbatimSymlinks: true })
    else for (const source of sources) copyFromCheckout(source, path.join(root, workFolder))
  }
}

/** Of all stages. */
const workFolder = '/app'

/** What Docker would send: no file that Git or .dockerignore leaves out. */
function copyFromCheckout(source: string, target: string): void {
  const excluded = ignored().map((pattern) => `:(exclude,glob)${pattern}`)
  const args = [
    '-C',
    checkout,
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
    '--',
    source,
    ...excluded,
  ]
  const tar = run('tar', ['-C', checkout, '--null', '--files-from=-', '--create'], run('git', args))
  run('tar', ['-C', target, '--extract', '--no-same-owner'], tar)
}

function runInside(root: string, command: string, settings: Record<string, string>): void {
  const proxies = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name))
  const variables = {
    PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: '/root',
    ...(authorities && { NODE_EXTRA_CA_CERTS: authoritiesInside }),
    ...settings,
  }
  const assignments = [...Object.entries(variables), ...proxies].map(([name, value]) => `${name}=${value}`)
  run('chroot', [root, '/usr/bin/env', '-i', ...assignments, 'sh', '-c', `cd ${workFolder} 2>/dev/null; ${command}`])
}
