import { tryKind } from './try-kind.ts'

tryKind('closed reading')
