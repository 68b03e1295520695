import { tryKind } from './try-kind.ts'

tryKind('open reading')
