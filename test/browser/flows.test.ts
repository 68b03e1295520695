import { tryEachFlow } from './try-kind.ts'

tryEachFlow('open reading')
