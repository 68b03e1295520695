import { Delayed } from './delayed.tsx'

const widths = ['w2', 'w3', 'w1', 'w2', 'w3', 'w2', 'w1', 'w3']

/** Bars where rows will be, in the height of a row; up to eight. */
export function LoadingRows({ label, rows }: { label: string; rows: number }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: no fieldset, nothing can be filled in here
    <div role="group" aria-busy="true" aria-label={label}>
      <Delayed>
        {widths.slice(0, rows).map((width, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
          <div className="load-row" key={index}>
            <span className="skeleton w3" />
            <span>
              <span className={`skeleton ${width}`} />
            </span>
            <span className="skeleton w2" />
          </div>
        ))}
      </Delayed>
    </div>
  )
}
