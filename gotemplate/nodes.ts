import { type GoString, toText } from './bytes.ts'
import type { NumberConstant } from './numbers.ts'
import { quote } from './quote.ts'

/** A node's position is in bytes from the start of the template. */
type At<Kind extends string> = { readonly kind: Kind; readonly position: number }

export type ListNode = At<'list'> & { readonly nodes: readonly Node[] }
export type PipeNode = At<'pipe'> & {
  readonly isAssignment: boolean
  readonly variables: readonly VariableNode[]
  readonly commands: readonly CommandNode[]
}
export type CommandNode = At<'command'> & { readonly operands: readonly Operand[] }
export type BranchNode = At<'if' | 'range' | 'with'> & {
  readonly pipe: PipeNode
  readonly list: ListNode
  readonly elseList: ListNode | undefined
}
export type TemplateNode = At<'template'> & { readonly name: GoString; readonly pipe: PipeNode | undefined }
type ActionNode = At<'action'> & { readonly pipe: PipeNode }

export type FieldNode = At<'field'> & { readonly names: readonly GoString[] }
/** A variable, and fields of it. */
export type VariableNode = At<'variable'> & { readonly names: readonly GoString[] }
export type ChainNode = At<'chain'> & { readonly of: Operand; readonly names: readonly GoString[] }
type IdentifierNode = At<'identifier'> & { readonly name: GoString }
type ConstantNode =
  | (At<'bool'> & { readonly value: boolean })
  | (At<'number'> & { readonly text: GoString; readonly constant: NumberConstant })
  | (At<'string'> & { readonly quoted: GoString; readonly value: GoString })

export type Operand =
  | FieldNode
  | VariableNode
  | ChainNode
  | IdentifierNode
  | ConstantNode
  | PipeNode
  | At<'dot'>
  | At<'nil'>

export type Node =
  | ListNode
  | ActionNode
  | BranchNode
  | TemplateNode
  | At<'break' | 'continue'>
  | (At<'text'> & { readonly text: GoString })

export type AnyNode = Node | Operand | CommandNode

/** A node as Go writes it in its errors. */
export function nodeText(node: AnyNode): GoString {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'list':
      return node.nodes.map(nodeText).join('')
    case 'action':
      return `{{${nodeText(node.pipe)}}}`
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`
    case 'if':
    case 'range':
    case 'with': {
      const otherwise = node.elseList === undefined ? '' : `{{else}}${nodeText(node.elseList)}`
      return `{{${node.kind} ${nodeText(node.pipe)}}}${nodeText(node.list)}${otherwise}{{end}}`
    }
    case 'template':
      return `{{template ${quote(node.name)}${node.pipe === undefined ? '' : ` ${nodeText(node.pipe)}`}}}`
    case 'pipe': {
      const names = node.variables.map(nodeText).join(', ')
      const declared = names === '' ? '' : `${names} ${node.isAssignment ? '=' : ':='} `
      return declared + node.commands.map(nodeText).join(' | ')
    }
    case 'command':
      return node.operands.map(inParens).join(' ')
    case 'field':
      return node.names.map((name) => `.${name}`).join('')
    case 'variable':
      return node.names.join('.')
    case 'chain':
      return inParens(node.of) + node.names.map((name) => `.${name}`).join('')
    case 'identifier':
      return node.name
    case 'bool':
      return String(node.value)
    case 'number':
      return node.text
    case 'string':
      return node.quoted
    case 'dot':
      return '.'
    case 'nil':
      return 'nil'
  }
}

const inParens = (node: Operand) => (node.kind === 'pipe' ? `(${nodeText(node)})` : nodeText(node))

/** Only spaces and definitions: such a body gives way to another of the same name. */
export const isEmptyBody = ({ nodes }: ListNode): boolean =>
  nodes.every((node) => node.kind === 'text' && /^(?:(?!\ufeff)[\s\u0085])*$/.test(toText(node.text)))
