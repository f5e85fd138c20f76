declare module "d3-flextree" {
  interface Tree<T> { data: T; x: number; y: number; each(visit: (node: Tree<T>) => void): void }
  interface Layout<T> { (tree: Tree<T>): Tree<T>; hierarchy(data: T, children?: (data: T) => T[]): Tree<T> }
  export function flextree<T>(options: {
    nodeSize: (node: { data: T }) => [number, number]; spacing?: number; children?: (data: T) => T[];
  }): Layout<T>;
}
