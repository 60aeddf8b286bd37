#include "troupe/bench/benchmarks.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--serve-task") == 0)
    return troupe::bench::serve_task(argv[2], std::atoi(argv[3]));
  troupe::bench::register_dispatch();
  troupe::bench::register_run();
  troupe::bench::register_exchange();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
