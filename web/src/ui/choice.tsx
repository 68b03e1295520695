import { useId } from 'react'

type Props<Value extends string> = {
  legend: string
  options: readonly (readonly [value: Value, words: string])[]
  value: Value
  choose: (value: Value) => void
}

/** One of a few, all of them in sight. */
export function Choice<Value extends string>({ legend, options, value, choose }: Props<Value>) {
  const name = useId()
  return (
    <fieldset className="stack tight">
      <legend className="label">{legend}</legend>
      <span className="choice">
        {options.map(([option, words]) => (
          <label key={option}>
            <input type="radio" name={name} checked={option === value} onChange={() => choose(option)} />
            {words}
          </label>
        ))}
      </span>
    </fieldset>
  )
}
