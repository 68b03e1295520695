import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** They are small and mostly wait: Vitest begins with large files where it has not measured them yet. */
const longFiles = [
  'test/spec/web-ui-lock-times.browser.test.ts',
  'test/browser/flows.test.ts',
  'proof/browser/open-reading.test.ts',
  'proof/browser/closed-reading.test.ts',
  'proof/browser/without-provider.test.ts',
  'test/spec/web-ui-refusals.browser.test.ts',
  'test/spec/web-ui-connection.browser.test.ts',
  'proof/scenarios/machine-faults.test.ts',
  'test/product/diagnosis.test.ts',
]

/** So that no run ends with one worker that is still at it. */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => longFiles.some((file) => moduleId.endsWith(file))
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
