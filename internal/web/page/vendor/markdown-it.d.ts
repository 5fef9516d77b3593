declare class MarkdownIt {
  constructor(options: { html: boolean; linkify: boolean });
  linkify: { set(options: { fuzzyLink: boolean; fuzzyEmail: boolean }): void };
  validateLink: (url: string) => boolean;
  disable(rule: string): this;
  parse(text: string, env: object): any[];
}
export default MarkdownIt;
