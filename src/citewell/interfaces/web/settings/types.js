/** What `/api/settings` tells and takes. */

/**
 * @typedef {{llm: string, url: string, model: string, has_key: boolean, fixed_by: string}} Model
 * @typedef {{on: boolean, fixed_by: string, available: boolean, missing: string}} Switch
 * @typedef {{provider: string, url: string, has_key: boolean, fixed_by: string}} Web
 * @typedef {{model: Model, memory: Switch, ocr: Switch, web: Web}} PageSettings
 * @typedef {{name: string, bytes: number, state: "missing" | "here" | "downloading" | "failed", done: number, error: any, hint: any}} ModelFile
 * @typedef {{ok: boolean, url: string, names: string[], context: number | null, keeps_schema: boolean | null, thinks: boolean | null,
 *   speed: number | null, error: any, hint: any}} Tested
 */

export {};
