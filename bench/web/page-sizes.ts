import { deployExamples, exampleApplications } from '../../test/support/example-tasks.ts'
import { startWorld } from '../../test/support/world.ts'

type AddRow = (claim: string, figure: string, bar: string, isMet: boolean) => void

const imageCount = 16
const heightOf = 'document.documentElement.scrollHeight'
const wordsOf = `document.querySelector('main').innerText.split(/\\s+/).length`
const firstRowOf = `document.querySelector('.table.tasks tbody tr').getBoundingClientRect().top`

/** How much of a page there is to read: heights at 1440 pixels, words, and where the list begins on a phone. */
export async function measurePageSizes(databaseUrl: string, addRow: AddRow): Promise<void> {
  await using world = await startWorld({
    databaseUrl,
    parts: ['argo cd', 'lines', 'provider', 'browser'],
    applications: exampleApplications,
    settings: { POD_LOG_LINES: '20' },
  })
  const tasks = await deployExamples(world)
  const many = await world.deploy('inventory', 'v1')
  await world.service.waitForEnd(many)
  const images = Array.from({ length: imageCount }, (_, at) => ({
    image: `registry.example/inventory-${at}`,
    tag: 'v1',
  }))
  await world.rows('UPDATE watcher.tasks SET images = $1 WHERE id = $2', [JSON.stringify(images), many])

  const look = async (path: string, { width = 1440, expression = heightOf }) => {
    await using opened = await world.open(path, { as: world.ada, width })
    const { page } = opened
    await page.setViewportSize({ width, height: 844 })
    await page.locator('.gate-rows details, .table.tasks tbody tr').first().waitFor()
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
    if (expression === heightOf) await page.setViewportSize({ width, height: 400 })
    return await page.evaluate<number>(expression)
  }
  const add = (claim: string, found: number, bar: number, unit: string) =>
    addRow(claim, `${found.toFixed(0)}${unit}`, `<= ${bar}`, found <= bar)
  add('height of a deployed page at 1440', await look(`/task/${tasks.deployed}`, {}), 900, ' px')
  add('height of a failed page at 1440', await look(`/task/${tasks.failed}`, {}), 1_500, ' px')
  add('height of a deployed page with 16 images', await look(`/task/${many}`, {}), 1_900, ' px')
  add('words of a deployed page', await look(`/task/${tasks.deployed}`, { expression: wordsOf }), 300, '')
  add('first row of the list at 390', await look('/tasks', { width: 390, expression: firstRowOf }), 190, ' px')
}
