// What the type checker must know of libraries whose packages have no types of their own.

declare module "highlight.js" {
  interface Highlighted {
    value: string;
    language?: string;
    relevance: number;
  }
  const hljs: {
    highlight(code: string, options: { language: string; ignoreIllegals?: boolean }): Highlighted;
    highlightAuto(code: string, languages?: string[]): Highlighted;
    getLanguage(name: string): object | undefined;
    listLanguages(): string[];
    registerLanguage(name: string, language: (hljs: unknown) => unknown): void;
  };
  export default hljs;
}
