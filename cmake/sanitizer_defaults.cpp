// Linked into every executable of a sanitizer build: the settings hold however a test is started,
// by ctest or by hand, and the environment still overrides them. (The runtime is a shared library
// and finds these functions only if they are visible.)
#define FOR_THE_RUNTIME extern "C" __attribute__((visibility("default")))

#if defined(__SANITIZE_THREAD__)

FOR_THE_RUNTIME const char* __tsan_default_options() {
  return "second_deadlock_stack=1:history_size=4";
}

// Libraries without instrumentation order memory by atomics and futexes that the sanitizer does not
// see, and would be reported. For CAF that overlooks races between actors, too, whose handlers CAF
// calls: the tsan preset uses an instrumented CAF where scripts/instrumented-caf has built one.
FOR_THE_RUNTIME const char* __tsan_default_suppressions() {
  return
#if !CAF_INSTRUMENTED
      "race:libcaf_core.so\n"
      "race:libcaf_io.so\n"
      // CAF's counts of references order it: what lets go of an actor last deletes it.
      "race:troupe::launch_thread::unit::work\n"
#endif
      // The standard library counts who holds an exception: the thread that throws it out of a
      // future and the one that made it.
      "race:std::__exception_ptr::exception_ptr::_M_release\n"
      "race:libdnnl.so\n"
      "race:libgomp.so\n"
      "called_from_lib:libdnnl.so\n"
      "called_from_lib:libgomp.so\n";
}

#elif defined(__SANITIZE_ADDRESS__)

FOR_THE_RUNTIME const char* __asan_default_options() {
  return "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:"
         "check_initialization_order=1";
}

FOR_THE_RUNTIME const char* __ubsan_default_options() { return "print_stacktrace=1"; }

#endif
