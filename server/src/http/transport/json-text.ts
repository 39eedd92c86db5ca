/** A body of JSON. What is sent often is made once: whether it is plain ASCII takes a look at each character. */
export class JsonText {
  readonly text: string;
  /** As long in bytes as in characters. Such a text leaves the process without being encoded anew. */
  readonly isAscii: boolean;

  constructor(text: string) {
    this.text = text;
    this.isAscii = Buffer.byteLength(text) === text.length;
  }
}
