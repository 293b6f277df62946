/** A question that these very tables can answer: the sum of a number for each value of a text. */
import { get } from "../api.js";
import { t } from "../i18n.js";
import { useEffect, useState } from "../ui/html.js";

/** Empty where there is none, or while it is looked for. @param {string} source */
export function useExample(source) {
  const [found, setFound] = useState(/** @type {{number: string, text: string} | null} */ (null));
  useEffect(() => {
    let here = true;
    setFound(null);
    get(`/data/sources/${encodeURIComponent(source)}/schema`).then((schema) => here && setFound(exampleOf(schema.tables)), () => undefined);
    return () => {
      here = false;
    };
  }, [source]);
  return found ? t("data.placeholder", found) : "";
}

/** @param {import("./tables.js").Table[]} tables */
function exampleOf(tables) {
  for (const { columns, primary_key, foreign_keys } of tables) {
    const keys = new Set([...primary_key, ...foreign_keys.flatMap((each) => each.columns)]);
    const number = columns.findLast((each) => each.kind === "number" && !keys.has(each.name) && !/(^|_)id$/i.test(each.name));
    const text = columns.find((each) => each.kind === "text" && !keys.has(each.name));
    if (number && text) return { number: number.name, text: text.name };
  }
  return null;
}
