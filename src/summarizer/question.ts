/** Question marks of the scripts that have one, with what may stand behind them: quotes, brackets, emphasis. */
const QUESTION_END = /[?？؟⁇⁈‽՞፧;⸮꘏][\s"'’”»)\]}」』）*_`]{0,8}$/u;

/** Whether a sentence ends as a question, in any script that marks one. */
export function isQuestion(sentence: string): boolean {
  return QUESTION_END.test(sentence.slice(-16));
}
