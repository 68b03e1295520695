import type { GoString } from './bytes.ts'
import { FunctionError } from './compare.ts'
import { type BuiltinFunction, builtins, type ParameterType, printable } from './functions.ts'
import {
  type AnyNode,
  type BranchNode,
  type ChainNode,
  type CommandNode,
  type FieldNode,
  type ListNode,
  type Node,
  nodeText,
  type Operand,
  type PipeNode,
  type TemplateNode,
  type VariableNode,
} from './nodes.ts'
import type { NumberConstant } from './numbers.ts'
import type { Bodies } from './parser.ts'
import { describe, type Meter, sprint } from './printer.ts'
import { quote } from './quote.ts'
import { TemplateError } from './template-error.ts'
import {
  bool,
  bytes,
  complexType,
  float,
  indirect,
  int,
  isInteger,
  isTrue,
  sortedEntries,
  unwrap,
  type Value,
} from './values.ts'

export type Limits = {
  /** Actions, operands and passes of loops; each KiB of text made counts as one more. */
  readonly maxSteps: number
  readonly maxOutputBytes: number
}

/** Go's own limit is 100,000. */
const maxTemplateDepth = 1000

type Variable = { readonly name: GoString; value: Value | undefined }
/** The value of the command before in a pipeline: none is not the same as one that is missing. */
type Final = { readonly value: Value | undefined } | undefined
/** How a list of actions ended. */
type Flow = 'break' | 'continue' | undefined

type Source = { readonly name: GoString; readonly text: GoString; readonly bodies: Bodies }

/** Renders a parsed template. @throws {TemplateError} in Go's words */
export function execute(source: Source, data: Value | undefined, limits: Limits): GoString {
  const execution = new Execution(source, limits)
  const body = source.bodies.get(source.name)
  if (body) execution.run(body, data)
  return execution.output
}

class Execution {
  output: GoString = ''
  readonly #source: Source
  readonly #limits: Limits
  #steps = 0
  #made = 0
  #depth = 0
  /** The template that runs, and the node that errors point at. */
  #name: GoString
  #node: AnyNode | undefined
  #variables: Variable[] = []

  constructor(source: Source, limits: Limits) {
    this.#source = source
    this.#limits = limits
    this.#name = source.name
  }

  run(body: ListNode, data: Value | undefined): void {
    this.#variables = [{ name: '$', value: data }]
    this.#walk(data, body)
  }

  #step(): void {
    this.#steps++
    if (this.#steps > this.#limits.maxSteps) this.#fail(`exceeded maximum number of steps (${this.#limits.maxSteps})`)
  }

  readonly #meter: Meter = (count) => {
    this.#made += count
    for (; this.#made >= 1024; this.#made -= 1024) this.#step()
  }

  #write(text: GoString): void {
    this.output += text
    if (this.output.length <= this.#limits.maxOutputBytes) return
    this.#fail(`exceeded maximum output of ${this.#limits.maxOutputBytes} bytes`)
  }

  #walk(dot: Value | undefined, node: Node): Flow {
    this.#node = node
    this.#step()
    switch (node.kind) {
      case 'action': {
        const value = this.#pipeline(dot, node.pipe)
        this.#node = node
        if (node.pipe.variables.length === 0) this.#write(sprint([printable(value)], this.#meter))
        return undefined
      }
      case 'break':
      case 'continue':
        return node.kind
      case 'if':
      case 'with':
        return this.#scoped(() => this.#ifOrWith(dot, node))
      case 'list':
        for (const child of node.nodes) {
          const flow = this.#walk(dot, child)
          if (flow) return flow
        }
        return undefined
      case 'range':
        return this.#scoped(() => this.#range(dot, node))
      case 'template':
        this.#template(dot, node)
        return undefined
      case 'text':
        this.#write(node.text)
        return undefined
    }
  }

  #scoped<T>(work: () => T): T {
    const count = this.#variables.length
    const result = work()
    this.#variables.length = count
    return result
  }

  #ifOrWith(dot: Value | undefined, node: BranchNode): Flow {
    const value = this.#pipeline(dot, node.pipe)
    if (isTrue(value)) return this.#walk(node.kind === 'with' ? value : dot, node.list)
    return node.elseList && this.#walk(dot, node.elseList)
  }

  #range(dot: Value | undefined, node: BranchNode): Flow {
    const { value } = indirect(this.#pipeline(dot, node.pipe))
    let isEmpty = true
    for (const [index, element] of this.#iterate(value, node.pipe.variables.length)) {
      isEmpty = false
      this.#step()
      this.#setLoopVariables(node.pipe, index, element)
      if (this.#scoped(() => this.#walk(element, node.list)) === 'break') return undefined
    }
    if (!isEmpty || !node.elseList) return undefined
    // As in Go, a break in the else of a range ends that range only.
    const flow = this.#walk(dot, node.elseList)
    return flow === 'break' ? undefined : flow
  }

  *#iterate(value: Value | undefined, variables: number): Generator<readonly [Value | undefined, Value]> {
    if (isInteger(value)) {
      if (variables > 1)
        this.#fail(`can't use ${describe(value, 'v', this.#meter)} to iterate over more than one variable`)
      for (let count = 0n; count < value.value; count++) yield [undefined, { ...value, value: count }]
    } else if (value?.kind === 'slice') {
      for (const [index, item] of (value.items ?? []).entries()) yield [int(index), item]
    } else if (value?.kind === 'map') yield* sortedEntries(value)
    else if (value !== undefined) this.#fail(`range can't iterate over ${describe(value, 'v', this.#meter)}`)
  }

  #setLoopVariables({ variables, isAssignment }: PipeNode, index: Value | undefined, element: Value): void {
    const values = variables.length > 1 ? [index, element] : [element]
    for (const [place, variable] of variables.entries()) {
      if (isAssignment) this.#setVariable(variable.names[0] ?? '', values[place])
      else this.#setTopVariable(variables.length - place, values[place])
    }
  }

  #setTopVariable(fromTop: number, value: Value | undefined): void {
    const variable = this.#variables.at(-fromTop)
    if (variable) variable.value = value
  }

  #setVariable(name: GoString, value: Value | undefined): void {
    this.#variable(name).value = value
  }

  #variable(name: GoString): Variable {
    const variable = this.#variables.findLast((candidate) => candidate.name === name)
    return variable ?? this.#fail(`undefined variable: ${name}`)
  }

  #template(dot: Value | undefined, node: TemplateNode): void {
    const body = this.#source.bodies.get(node.name)
    if (!body) {
      this.#fail(`template ${quote(node.name)} not defined`)
      return
    }
    if (this.#depth === maxTemplateDepth) this.#fail(`exceeded maximum template depth (${maxTemplateDepth})`)
    const data = node.pipe && this.#pipeline(dot, node.pipe)
    const [name, variables] = [this.#name, this.#variables]
    this.#depth++
    this.#name = node.name
    this.run(body, data)
    this.#depth--
    this.#name = name
    this.#variables = variables
  }

  #pipeline(dot: Value | undefined, pipe: PipeNode): Value | undefined {
    this.#node = pipe
    let final: Final
    for (const command of pipe.commands) final = { value: unwrap(this.#command(dot, command, final)) }
    for (const variable of pipe.variables) {
      const name = variable.names[0] ?? ''
      if (pipe.isAssignment) this.#setVariable(name, final?.value)
      else this.#variables.push({ name, value: final?.value })
    }
    return final?.value
  }

  #command(dot: Value | undefined, command: CommandNode, final: Final): Value | undefined {
    this.#step()
    const [first, ...others] = command.operands
    if (first === undefined) return undefined
    switch (first.kind) {
      case 'field':
        return this.#field(dot, first, others.length > 0 || final !== undefined)
      case 'chain':
        return this.#chain(dot, first, others.length > 0 || final !== undefined)
      case 'identifier':
        return this.#function(dot, command, first.position, first.name, others, final)
      case 'pipe':
        this.#rejectArguments(first, others, final)
        return this.#pipeline(dot, first)
      case 'variable':
        return this.#variableFields(first, others, final)
    }
    this.#node = first
    this.#rejectArguments(first, others, final)
    if (first.kind === 'dot') return dot
    if (first.kind === 'nil') return this.#fail('nil is not a command')
    return this.#constant(first)
  }

  #rejectArguments(node: Operand, others: readonly Operand[], final: Final): void {
    if (others.length > 0 || final !== undefined) this.#fail(`can't give argument to non-function ${nodeText(node)}`)
  }

  #constant(node: Extract<Operand, { kind: 'bool' | 'number' | 'string' }>): Value {
    this.#node = node
    if (node.kind === 'bool') return bool(node.value)
    return node.kind === 'string' ? bytes(node.value) : this.#number(node.text, node.constant)
  }

  #number(text: GoString, { complex, float: real, int: integer }: NumberConstant): Value {
    if (complex) return { kind: 'complex128', type: complexType, value: complex }
    const isHexInteger = /^0[xX]./.test(text) && !/[pP]/.test(text)
    if (real !== undefined && !isHexInteger && !text.startsWith("'") && /[.eEpP]/.test(text)) return float(real)
    return integer === undefined ? this.#fail(`${text} overflows int`) : int(integer)
  }

  #field(dot: Value | undefined, node: FieldNode, hasArguments: boolean): Value | undefined {
    this.#node = node
    return this.#fieldChain(dot, node.names, hasArguments)
  }

  #chain(dot: Value | undefined, node: ChainNode, hasArguments: boolean): Value | undefined {
    this.#node = node
    return this.#fieldChain(this.#argument(dot, 'value', node.of), node.names, hasArguments)
  }

  #variableFields(node: VariableNode, others: readonly Operand[], final: Final): Value | undefined {
    this.#node = node
    const [name = '', ...fields] = node.names
    const { value } = this.#variable(name)
    if (fields.length > 0) return this.#fieldChain(value, fields, others.length > 0 || final !== undefined)
    this.#rejectArguments(node, others, final)
    return value
  }

  #fieldChain(receiver: Value | undefined, names: readonly GoString[], hasArguments: boolean): Value | undefined {
    return names.reduce(
      (value, name, index) => this.#fieldOf(value, name, hasArguments && index === names.length - 1),
      receiver,
    )
  }

  #fieldOf(receiver: Value | undefined, name: GoString, hasArguments: boolean): Value | undefined {
    if (receiver === undefined) return undefined
    const typeName = receiver.type.name
    const { value, isNil } = indirect(receiver)
    if (isNil && value?.kind === 'interface') this.#fail(`nil pointer evaluating ${typeName}.${name}`)
    if (value?.kind === 'struct') {
      const index = value.type.fields.findIndex((field) => field.name === name)
      const field = value.type.fields[index]
      if (field) {
        if (!field.isExported) this.#fail(`${name} is an unexported field of struct type ${typeName}`)
        if (hasArguments) this.#fail(`${name} has arguments but cannot be invoked as function`)
        return value.fields[index]
      }
    }
    if (value?.kind === 'map' && (value.type.key.kind === 'string' || value.type.key.kind === 'interface')) {
      if (hasArguments) this.#fail(`${name} is not a method but has arguments`)
      return value.entries?.find(([key]) => isString(unwrap(key), name))?.[1]
    }
    if (value?.kind === 'pointer' && isNil) {
      const { element } = value.type
      const isUnknown = element.kind === 'struct' && element.fields.every((field) => field.name !== name)
      if (!isUnknown) this.#fail(`nil pointer evaluating ${typeName}.${name}`)
    }
    return this.#fail(`can't evaluate field ${name} in type ${typeName}`)
  }

  #function(
    dot: Value | undefined,
    command: AnyNode,
    position: number,
    name: GoString,
    operands: readonly Operand[],
    final: Final,
  ): Value | undefined {
    this.#node = { kind: 'identifier', position, name }
    const builtin = builtins.get(name)
    if (!builtin) return this.#fail(`${quote(name)} is not a defined function`)
    this.#checkCount(name, builtin, operands.length, final)
    if (name === 'and' || name === 'or') return this.#andOr(dot, name, operands, final)
    const values = operands.map((operand, index) => this.#argument(dot, parameterAt(builtin, index), operand))
    if (final) values.push(this.#fit(final.value, parameterAt(builtin, operands.length)))
    try {
      return name === 'call' ? this.#call(operands[0], values[0]) : builtin.call(values, this.#meter)
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error
      this.#node = command
      return this.#fail(`error calling ${name}: ${error.message}`)
    }
  }

  #checkCount(name: GoString, { parameters, variadic }: BuiltinFunction, given: number, final: Final): void {
    const count = given + (final ? 1 : 0)
    if (variadic !== undefined && count < parameters.length)
      this.#fail(`wrong number of args for ${name}: want at least ${parameters.length} got ${given}`)
    if (variadic === undefined && count !== parameters.length)
      this.#fail(`wrong number of args for ${name}: want ${parameters.length} got ${count}`)
  }

  #andOr(dot: Value | undefined, name: 'and' | 'or', operands: readonly Operand[], final: Final): Value | undefined {
    let value: Value | undefined
    for (const operand of operands) {
      value = this.#argument(dot, 'value', operand)
      if (isTrue(value) === (name === 'or')) return value
    }
    return final ? final.value : value
  }

  /** The data has no functions, so this only says what it is called with instead. */
  #call(operand: Operand | undefined, wrapped: Value | undefined): never {
    const value = unwrap(wrapped)
    if (value === undefined) throw new FunctionError('call of nil')
    const callee = operand ? nodeText(operand) : value.kind === 'string' ? value.value : `<${value.type.name} Value>`
    throw new FunctionError(`non-function ${callee} of type ${value.type.name}`)
  }

  #argument(dot: Value | undefined, type: ParameterType, node: Operand): Value | undefined {
    this.#node = node
    this.#step()
    switch (node.kind) {
      case 'dot':
        return this.#fit(dot, type)
      case 'nil':
        return type === 'string' ? this.#fail('cannot assign nil to string') : undefined
      case 'field':
        return this.#fit(this.#field(dot, node, false), type)
      case 'variable':
        return this.#fit(this.#variableFields(node, [], undefined), type)
      case 'pipe':
        return this.#fit(this.#pipeline(dot, node), type)
      case 'identifier':
        return this.#fit(this.#function(dot, node, node.position, node.name, [], undefined), type)
      case 'chain':
        return this.#fit(this.#chain(dot, node, false), type)
    }
    if (type === 'string' && node.kind !== 'string') return this.#fail(`expected string; found ${nodeText(node)}`)
    return this.#constant(node)
  }

  /** Go's validateType: the value as an argument of that type. */
  #fit(value: Value | undefined, type: ParameterType): Value | undefined {
    if (type !== 'string') return value
    if (value === undefined) return this.#fail('invalid value; expected string')
    const inner = value.kind === 'interface' ? (value.of ?? value) : value
    if (inner.kind === 'string') return inner
    if (inner.kind === 'pointer' && inner.type.element.kind === 'string')
      return inner.to ?? this.#fail('dereference of nil pointer of type string')
    return this.#fail(`wrong type for value; expected string; got ${inner.type.name}`)
  }

  #fail(message: GoString): never {
    const { name, text } = this.#source
    if (!this.#node) throw new TemplateError(`template: ${name}: ${message}`, this.output)
    const before = text.slice(0, this.#node.position)
    const lineStart = before.lastIndexOf('\n') + 1
    const line = before.split('\n').length
    const place = `${name}:${line}:${before.length - lineStart}`
    const context = nodeText(this.#node)
    throw new TemplateError(
      `template: ${place}: executing ${quote(this.#name)} at <${context}>: ${message}`,
      this.output,
    )
  }
}

const parameterAt = ({ parameters, variadic = 'value' }: BuiltinFunction, index: number): ParameterType =>
  parameters[index] ?? variadic

const isString = (value: Value | undefined, text: GoString) => value?.kind === 'string' && value.value === text
