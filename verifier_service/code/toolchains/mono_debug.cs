/* System.Diagnostics.Debug as in a program that .NET runs: a failed assertion says so on standard
   error and ends the process. Mono's own would neither be called nor heard. A type of the program's
   own assembly goes before one of a library, so each program is compiled with this file. The other
   members do what Trace does, which has the same listeners, and only if the program defines DEBUG. */

#define TRACE

namespace System.Diagnostics {
    static class Debug {
        const int Aborted = 134;

        public static bool AutoFlush { get { return Trace.AutoFlush; } set { Trace.AutoFlush = value; } }
        public static int IndentLevel { get { return Trace.IndentLevel; } set { Trace.IndentLevel = value; } }
        public static int IndentSize { get { return Trace.IndentSize; } set { Trace.IndentSize = value; } }
        public static TraceListenerCollection Listeners { get { return Trace.Listeners; } }

        public static void Assert(bool condition) { if (!condition) Fail(""); }
        public static void Assert(bool condition, string message) { if (!condition) Fail(message); }
        public static void Assert(bool condition, string message, string detail) {
            if (!condition) Fail(message, detail);
        }
        public static void Assert(bool condition, string message, string detail, params object[] values) {
            if (!condition) Fail(message, string.Format(detail, values));
        }
        public static void Fail(string message) { Fail(message, ""); }
        public static void Fail(string message, string detail) {
            Console.Error.WriteLine("Process terminated. Assertion failed.");
            foreach (var line in new[] { message, detail, Environment.StackTrace })
                if (!string.IsNullOrEmpty(line)) Console.Error.WriteLine(line);
            Environment.Exit(Aborted);
        }

        [Conditional("DEBUG")] public static void Close() { Trace.Close(); }
        [Conditional("DEBUG")] public static void Flush() { Trace.Flush(); }
        [Conditional("DEBUG")] public static void Indent() { Trace.Indent(); }
        [Conditional("DEBUG")] public static void Unindent() { Trace.Unindent(); }
        [Conditional("DEBUG")] public static void Print(string text) { Trace.WriteLine(text); }
        [Conditional("DEBUG")] public static void Print(string text, params object[] values) { Trace.WriteLine(string.Format(text, values)); }
        [Conditional("DEBUG")] public static void Write(object value) { Trace.Write(value); }
        [Conditional("DEBUG")] public static void Write(string text) { Trace.Write(text); }
        [Conditional("DEBUG")] public static void Write(object value, string category) { Trace.Write(value, category); }
        [Conditional("DEBUG")] public static void Write(string text, string category) { Trace.Write(text, category); }
        [Conditional("DEBUG")] public static void WriteIf(bool condition, object value) { Trace.WriteIf(condition, value); }
        [Conditional("DEBUG")] public static void WriteIf(bool condition, string text) { Trace.WriteIf(condition, text); }
        [Conditional("DEBUG")] public static void WriteIf(bool condition, object value, string category) { Trace.WriteIf(condition, value, category); }
        [Conditional("DEBUG")] public static void WriteIf(bool condition, string text, string category) { Trace.WriteIf(condition, text, category); }
        [Conditional("DEBUG")] public static void WriteLine(object value) { Trace.WriteLine(value); }
        [Conditional("DEBUG")] public static void WriteLine(string text) { Trace.WriteLine(text); }
        [Conditional("DEBUG")] public static void WriteLine(object value, string category) { Trace.WriteLine(value, category); }
        [Conditional("DEBUG")] public static void WriteLine(string text, string category) { Trace.WriteLine(text, category); }
        [Conditional("DEBUG")] public static void WriteLine(string text, params object[] values) { Trace.WriteLine(string.Format(text, values)); }
        [Conditional("DEBUG")] public static void WriteLineIf(bool condition, object value) { Trace.WriteLineIf(condition, value); }
        [Conditional("DEBUG")] public static void WriteLineIf(bool condition, string text) { Trace.WriteLineIf(condition, text); }
        [Conditional("DEBUG")] public static void WriteLineIf(bool condition, object value, string category) { Trace.WriteLineIf(condition, value, category); }
        [Conditional("DEBUG")] public static void WriteLineIf(bool condition, string text, string category) { Trace.WriteLineIf(condition, text, category); }
    }
}
