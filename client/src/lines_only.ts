/** Stands in for d3-path in the bundle: charts here are made of straight lines, so arcs and curves need not travel. */

export class Path {
  private text = "";
  moveTo(x: number, y: number): void {
    this.text += `M${round(x)},${round(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.text += `L${round(x)},${round(y)}`;
  }
  closePath(): void {
    this.text += "Z";
  }
  toString(): string {
    return this.text;
  }
}

export const path = (): Path => new Path();

const round = (value: number): number => Math.round(value * 100) / 100;
