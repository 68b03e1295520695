import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const files = ['server', 'contract', 'simulator', 'web/src'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => path.join(folder, file)),
)

/** The files of ours that a file imports, types included. */
const importsOf = new Map(
  files.map((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const imported = [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, to = '']) =>
      path.join(path.dirname(file), to),
    )
    return [file, imported.filter((to) => to !== file)] as const
  }),
)

test('no circle of files', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, trail: readonly string[]) => {
    if (trail.includes(file)) circles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '))
    if (done.has(file) || trail.includes(file)) return
    for (const to of importsOf.get(file) ?? []) visit(to, [...trail, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

const domainOf = (file: string) => /^server\/([\w-]+)\//.exec(file)?.[1]

test.for<[string, (file: string) => string | undefined]>([
  ['folders', (file) => (/^(?:server|contract)\//.test(file) ? path.dirname(file) : undefined)],
  ['domains', domainOf],
])('no two %s import each other', ([, placeOf]) => {
  const imports = new Map<string, string>()
  for (const [file, imported] of importsOf)
    for (const to of imported) {
      const [from, into] = [placeOf(file), placeOf(to)]
      if (from && into && from !== into) imports.set(`${from} -> ${into}`, `${file} -> ${to}`)
    }
  const mutual = [...imports].filter(([key]) => imports.has(key.split(' -> ').reverse().join(' -> ')))
  expect(mutual.map(([, example]) => example)).toEqual([])
})

test('no folder has more sources of its own than a newcomer keeps in mind', () => {
  const sizes = Map.groupBy(
    files.filter((file) => /^(?:server|contract)\//.test(file)),
    path.dirname,
  )
  const large = [...sizes].filter(([folder, sources]) => sources.length > (folder.startsWith('contract') ? 25 : 16))
  expect(large.map(([folder, sources]) => `${folder}: ${sources.length}`)).toEqual([])
})

test('a store is imported from its own folder and from where the service is composed', () => {
  const isComposition = (file: string) => /^server\/(?:commands|compose)\//.test(file)
  const foreign = [...importsOf].flatMap(([file, imported]) =>
    imported
      .filter((to) => to.endsWith('-store.ts') && domainOf(to) !== domainOf(file) && !isComposition(file))
      .map((to) => `${file} -> ${to}`),
  )
  expect(foreign).toEqual([])
})

const tablesOf: Readonly<Record<string, readonly string[]>> = {
  audit: ['audit'],
  auth: ['deploy_tokens', 'sessions', 'sign_ins'],
  deployments: ['tasks', 'task_pod_logs', 'confirmed_applications', 'idempotency_keys'],
  locks: ['deploy_lock', 'deploy_lock_periods'],
  notify: ['outbox', 'deliveries', 'disabled_targets'],
  ownership: ['replicas'],
  timeline: ['task_events', 'event_counter'],
  'write-back': ['pending_writes', 'repositories'],
}
const domainOfTable = new Map(
  Object.entries(tablesOf).flatMap(([domain, tables]) => tables.map((table) => [table, domain] as const)),
)
/** Its rows are those of all tables. */
const deletesWhatIsOld = 'retention'

test('each table is written by the domain that it belongs to, and by retention', () => {
  const writes =
    /(?:updateTable|insertInto|deleteFrom)\('(\w+)'\)|(?:UPDATE|INSERT INTO|DELETE FROM) \$\{[^}']*'(\w+)'|insertRow\(schema, '(\w+)'/g
  const written = files.flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(writes)].map((match) => ({
      file,
      table: match.slice(1).find((table) => table !== undefined) ?? '',
    })),
  )
  expect(new Set(written.map(({ table }) => table))).toEqual(new Set(domainOfTable.keys()))
  const foreign = written.filter(
    ({ file, table }) => ![domainOfTable.get(table), deletesWhatIsOld].includes(domainOf(file)),
  )
  expect(foreign.map(({ file, table }) => `${file} -> ${table}`)).toEqual([])
})

test('what composes the service holds no SQL', () => {
  const composing = files.filter((file) => file.startsWith('server/compose/'))
  expect(composing.length).toBeGreaterThan(5)
  expect(composing.filter((file) => readFileSync(path.join(root, file), 'utf8').includes("from 'kysely'"))).toEqual([])
})

const textsOfClients = [
  'causes',
  'conditions',
  'exit-codes',
  'text/headline',
  'text/next-steps',
  'text/render-diagnosis',
  'task-status',
]

test.for(textsOfClients)('contract/%s.ts needs no zod at run time, so that a small client can bundle it', (name) => {
  const seen = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    if (file.startsWith('contract/')) for (const to of runtimeImportsOf(file)) visit(to)
  }
  visit(`contract/${name}.ts`)
  expect([...seen].filter((file) => !file.startsWith('contract/'))).toEqual([])
})

/** Without types: paths of ours, and names of packages. */
function runtimeImportsOf(file: string): string[] {
  const text = readFileSync(path.join(root, file), 'utf8')
  const imported = text.matchAll(/^(?:import|export)(?! type\b)[^']*? from '([^']+)'/gm)
  return [...imported].map(([, to = '']) => (to.startsWith('.') ? path.join(path.dirname(file), to) : to))
}

test('the imports are found', () => {
  expect(importsOf.get('server/main.ts')).toContain('server/compose/compose.ts')
  expect(runtimeImportsOf('contract/task.ts')).toContain('zod')
})
