// Runs in front of Material's search worker, which stands in the same folder and whose name comes
// as the query of this script's address. It takes a term apart the way scripts/search_index.py cut
// the text, and asks for all of its parts: 数值稳定性 becomes +数值* +稳定*, and log_softmax becomes
// +log* +softmax*. Material itself drops the last character of a Chinese query, and asks for any
// of the parts.
const SETUP = 0, QUERY = 2 // Material's SearchMessageType
const HAN = /(\p{sc=Han}+)/u

let separator
const words = new Set()

addEventListener("message", ({ data: message }) => {
  if (message.type === SETUP) {
    separator = new RegExp(message.data.config.separator)
    for (const { title, text } of message.data.docs)
      for (const word of (title + text).match(/\p{sc=Han}{2,}/gu) || [])
        words.add(word)
  } else if (message.type === QUERY && !/["+\-*~^:]/.test(message.data)) {
    message.data = message.data.split(/\s+/).map(takeApart).join(" ")
  }
})

function takeApart(term) {
  const parts = term.split(separator)
    .flatMap(part => part.split(HAN).flatMap(piece => HAN.test(piece) ? cut(piece) : piece))
    .filter(Boolean)
  return parts.length > 1 ? parts.map(part => `+${part}*`).join(" ") : parts.join("")
}

// The longest words of the index, from left to right. Single characters count only where there is
// nothing else.
function cut(run) {
  const found = []
  for (let start = 0; start < run.length;) {
    let end = run.length
    while (end > start + 1 && !words.has(run.slice(start, end))) end--
    if (end > start + 1) found.push(run.slice(start, end))
    start = end
  }
  return found.length ? found : [run]
}

importScripts(new URL(location.search.slice(1), location))
