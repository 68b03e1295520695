import { writeFileSync } from 'node:fs'
import { generatedFiles } from './generated-files.ts'

for (const [file, text] of generatedFiles()) writeFileSync(new URL(`../../${file}`, import.meta.url), text)
