/** Payloads by the row of docs/spec/cases.md that they belong to. Whoever executes one makes a file in the folder of markers. */
export type Payloads = readonly (readonly [row: string, payloads: readonly string[]])[]

type Ground = {
  /** The path of a marker file that no other payload has. */
  readonly marker: () => string
  /** Where the Git host listens. */
  readonly port: number
  /** Where the repositories lie on disk. */
  readonly repositories: string
}

const commands = ({ marker }: Ground) => [
  () => `touch ${marker()}`,
  () => `$(touch ${marker()})`,
  () => `\`touch ${marker()}\``,
  () => `;touch ${marker()};`,
  () => `|touch ${marker()}`,
  () => `&& touch ${marker()} #`,
  () => `'"; touch ${marker()} ; "'`,
  () => `sh\${IFS}-c\${IFS}touch\${IFS}${marker()}`,
]

/** `count` payloads: each form with each command, as long as there are any. */
function combine(ground: Ground, forms: readonly ((command: string) => string)[], count: number): readonly string[] {
  const all = commands(ground).flatMap((command) => forms.map((form) => form(command())))
  if (all.length < count) throw new Error(`only ${all.length} payloads`)
  return all.slice(0, count)
}

const controls = [...Array(32).keys(), 127].map((code) => String.fromCharCode(code))
const invisible = ['\u200b', '\u200c', '\u200d', '\u200e', '\u202e', '\u2028', '\u2029', '\u2066', '\ufeff', '\ud800']

export function repositoryPayloads(ground: Ground): Payloads {
  const { port, repositories, marker } = ground
  const host = `127.0.0.1:${port}`
  const options = [
    (command: string) => `--upload-pack=${command}`,
    (command: string) => `--receive-pack=${command}`,
    (command: string) => `--exec=${command}`,
    (command: string) => `-u${command}`,
    (command: string) => `--config=core.sshCommand=${command}`,
  ]
  const protocols = [
    `ext::sh -c touch% ${marker()}`,
    `ext::touch ${marker()}`,
    'fd::17',
    `file://${repositories}/gitops.git`,
    `${repositories}/gitops.git`,
    '../gitops.git',
    `http://${host}/gitops.git`,
    `git://${host}/gitops.git`,
    `transport::ssh://git@${host}/gitops.git`,
    `ftp://${host}/gitops.git`,
    `git+ssh://git@${host}/gitops.git`,
    `SSH://git@${host}/gitops.git`,
  ]
  const hosts = [
    `ssh://-oProxyCommand=touch ${marker()}/gitops.git`,
    `ssh://-oProxyCommand=touch\${IFS}${marker()}@${host}/gitops.git`,
    `-oProxyCommand=touch ${marker()}:gitops.git`,
    `git@-oProxyCommand=touch ${marker()}:gitops.git`,
    `ssh://-lroot@${host}/gitops.git`,
    `-lroot@127.0.0.1:gitops.git`,
    `ssh://git@%h:${port}/gitops.git`,
    `ssh://%r@${host}/gitops.git`,
    `ssh://git@127.0.0.1\n:${port}/gitops.git`,
    `ssh://git\n@${host}/gitops.git`,
    `ssh://git@127.0.0.1\0:${port}/gitops.git`,
    `ssh://git\0@${host}/gitops.git`,
    `ssh://git@[127.0.0.1]:${port}/gitops.git`,
    `ssh://git:secret@${host}/gitops.git`,
    `ssh://@${host}/gitops.git`,
  ]
  const others = [
    (command: string) => `ssh://git@${host}/${command}/gitops.git`,
    (command: string) => `ssh://git@${host}/gitops.git ${command}`,
    (command: string) => `ssh://git@${host}/gitops.git\n${command}`,
    (command: string) => `ssh://${command}@${host}/gitops.git`,
    (command: string) => `ssh://git@${command}:${port}/gitops.git`,
    (command: string) => `git@127.0.0.1:${command}`,
    (command: string) => `https://${host}/${command}`,
    (command: string) => `https://${command}@${host}/gitops.git`,
    (command: string) => `ssh://git@${host}/gitops.git?${command}`,
    (command: string) => `ssh://git@${host}/../${command}`,
    (command: string) => command,
  ]
  return [
    ['T10', combine(ground, options, 40)],
    ['T11', protocols],
    ['T12', hosts],
    ['B66', combine(ground, others, 83)],
  ]
}

export function branchPayloads(ground: Ground): Payloads {
  const refspecs = [
    ...['+main', ':main', 'a:b', 'main:refs/tags/x', '+refs/heads/*:refs/heads/*', ':', '+main:main'],
    ...['@', 'HEAD', '@{-1}', 'main@{u}', 'main~1', 'main^', 'main^{tree}', 'refs/tags/x', 'refs/heads/main'],
    ...['--force', '--mirror', '-d', `--receive-pack=touch ${ground.marker()}`],
  ]
  const forms = [
    (command: string) => command,
    (command: string) => `main ${command}`,
    (command: string) => `main\n${command}`,
    (command: string) => `main:${command}`,
    (command: string) => `main/${command}`,
    (command: string) => `+refs/heads/${command}`,
    (command: string) => `--exec=${command}`,
  ]
  const odd = [
    ...['', ' ', 'x'.repeat(256), 'ä'.repeat(256), 'u\u0308', '.a', 'a/.b', 'a.', 'a.lock', 'a.lock/b', 'a/', '/a'],
    ...['a//b', 'a..b', '..', '../main', 'a\\b', 'a?', 'a[', 'a*', 'a b', '-main', 'a/-b', 'REFS/heads/x', 'refs/x'],
    ...['FETCH_HEAD:main', '.', 'main, main', 'main;main', '$', '%2e%2e', '<main>', '"main"', "'main'"],
  ]
  const inside = [...controls, ...invisible].map((character) => `ma${character}in`)
  return [
    ['T13', refspecs],
    ['B67', [...odd, ...inside, ...combine(ground, forms, 130 - odd.length - inside.length)]],
  ]
}

export function pathPayloads(ground: Ground): Payloads {
  const { marker, repositories } = ground
  const git = ['.git', '.GIT', '.Git', '.git.', '.git ', '.git...', 'git~1', 'GIT~1', 'gi7eb9~1', '.git::$DATA']
  const escapes = [
    ...['..', '../x', 'a/../x', 'a/../../x', 'apps/shop/..', './../x', '../../../../../../../../tmp', `../${marker()}`],
    ...git.flatMap((name) => [name, `${name}/hooks`]),
    ...['apps\\..\\x', '\\\\host\\share', 'a\nb', 'a\0b', 'a\rb', '\u001b[2J', 'apps\n/../x', 'a\u007fb'],
    ...['x'.repeat(4_096), 'x/'.repeat(70), '.gitmodules', 'a/.gitmodules'],
  ]
  const forms = [
    (command: string) => `apps/${command}`,
    (command: string) => `apps\nM 100644 inline x\n${command}`,
    (command: string) => `apps/"\n${command}`,
    (command: string) => `${command}/../..`,
    (command: string) => `-${command}`,
    (command: string) => `.git/${command}`,
  ]
  const inside = [...controls, ...invisible].map((character) => `apps/a${character}b`)
  const gitInside = [...invisible, '\u200f', '\u202a'].map((character) => `a/.g${character}it`)
  const absolute = ['/etc', `${repositories}/gitops.git/hooks`, '/.', '/', '~', '~root', 'C:\\', '//host/share']
  const plain = ['.', '', './x', 'x/', 'a/./b', 'a//b', '/a', '.github/x', '-x', '--', '$HOME', '*', '{{.App}}', ' x ']
  const rest = [...inside, ...gitInside, ...absolute, ...plain]
  return [
    ['T14', escapes],
    ['B68', [...rest, ...combine(ground, forms, 110 - rest.length)]],
  ]
}

export function fileNamePayloads(ground: Ground): Payloads {
  const { marker } = ground
  const git = ['.git', '.GIT', '.git.', '.git ', 'git~1', '.gitmodules', '.gitattributes', '.gitignore', '.GITMODULES']
  const names = [
    ...['', '.', '..', '../x', 'a/b', '/x', marker(), 'a\\b', '.git/config', '.git/hooks/post-checkout', 'x\n', '\nx'],
    ...[...git, ...git.map((name) => `${name}\u200c`), ...git.map((name) => `../${name}`)],
    ...[...controls, ...invisible].map((character) => `tags${character}.yaml`),
    ...['x'.repeat(256), 'ä'.repeat(200), 'u\u0308.yaml', '-x.yaml', '--help.yaml', '$HOME.yaml', '*.yml', '~.yaml'],
    ...[' .yaml', 'a b.yaml', '".yaml', "'.yaml"],
  ]
  const forms = [
    (command: string) => command,
    (command: string) => `x.yaml\nM 100644 inline y\n${command}`,
    (command: string) => `"${command}`,
    (command: string) => `x.yaml ${command}`,
    (command: string) => `--${command}`,
    (command: string) => `../${command}`,
    (command: string) => `.git/${command}`,
  ]
  return [['B69', [...names, ...combine(ground, forms, 150 - names.length)]]]
}
