import { Delayed } from './delayed.tsx'

const widths = ['w2', 'w3', 'w1', 'w2', 'w3', 'w2', 'w1', 'w3']

/** Bars where rows will be, in the height of a row. */
export function LoadingRows({ label }: { label: string }) {
  return (
    <Delayed>
      {/* biome-ignore lint/a11y/useSemanticElements: no fieldset, nothing can be filled in here */}
      <div role="group" aria-busy="true" aria-label={label}>
        {widths.map((width, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
          <div className="load-row" key={index}>
            <span className="skeleton w3" />
            <span>
              <span className={`skeleton ${width}`} />
            </span>
            <span className="skeleton w2" />
          </div>
        ))}
      </div>
    </Delayed>
  )
}
