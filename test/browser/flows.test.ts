import { tryEachFlow } from './try-kind.ts'

tryEachFlow()
