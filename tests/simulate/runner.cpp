#include "tests/simulate/runner.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace troupe::simulate {
namespace {

// The limits after which a seed counts as hanging: in processor time, because other programs may
// use the processor, and in real time, because it may wait forever.
constexpr double patient_cpu_seconds = 60, patient_seconds = 3600;

// std::chrono::steady_clock has the simulation's time.
double real_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct child {
  const run_choice* choice;
  pid_t pid = -1;
  int from = -1;
  double begun = 0;
  std::string output_read = {};
};

bool hangs(const child& seed_process) {
  clockid_t its_clock;
  timespec cpu_time{};
  if (::clock_getcpuclockid(seed_process.pid, &its_clock) == 0 &&
      ::clock_gettime(its_clock, &cpu_time) == 0 &&
      static_cast<double>(cpu_time.tv_sec) > patient_cpu_seconds)
    return true;
  return real_seconds() - seed_process.begun > patient_seconds;
}

void write_all(int to, const char* bytes, size_t count) {
  while (count > 0) {
    auto done = ::write(to, bytes, count);
    if (done <= 0)
      return;
    bytes += done;
    count -= static_cast<size_t>(done);
  }
}

struct numbers {
  double virtual_seconds;
  uint64_t succeeded, failed, faults, messages, lines, probes_hit;
};

child start(const run_choice& choice) {
  int ends[2];
  if (::pipe(ends) != 0)
    std::abort();
  std::fflush(nullptr);
  auto pid = ::fork();
  if (pid < 0)
    std::abort();
  if (pid == 0) {
    ::close(ends[0]);
    auto result_of_run = run_here(choice, false);
    numbers first{result_of_run.final_outcome.virtual_seconds,
                  result_of_run.final_outcome.succeeded,
                  result_of_run.final_outcome.failed,
                  result_of_run.final_outcome.faults,
                  result_of_run.final_outcome.messages,
                  result_of_run.final_outcome.lines,
                  result_of_run.probes_hit};
    write_all(ends[1], reinterpret_cast<const char*>(&first), sizeof(first));
    write_all(ends[1], result_of_run.final_outcome.violation.data(),
              result_of_run.final_outcome.violation.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  return {&choice, pid, ends[0], real_seconds()};
}

run_result finish(child& seed_process, bool hung) {
  if (hung)
    ::kill(seed_process.pid, SIGABRT);
  ::close(seed_process.from);
  int code = 0;
  rusage usage{};
  ::wait4(seed_process.pid, &code, 0, &usage);
  run_result result_of_run;
  result_of_run.seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  if (hung) {
    result_of_run.final_outcome.violation = "a seed ends: it took minutes of a processor, or waits";
  } else if (WIFSIGNALED(code)) {
    result_of_run.final_outcome.violation =
        concat("no process dies: signal ", WTERMSIG(code), " (", ::strsignal(WTERMSIG(code)), ")");
  } else if (seed_process.output_read.size() < sizeof(numbers)) {
    result_of_run.final_outcome.violation =
        concat("no process dies: exit code ", WEXITSTATUS(code));
  } else {
    numbers first;
    std::memcpy(&first, seed_process.output_read.data(), sizeof(first));
    result_of_run.final_outcome = {seed_process.output_read.substr(sizeof(first)),
                                   first.virtual_seconds,
                                   first.succeeded,
                                   first.failed,
                                   first.faults,
                                   first.messages,
                                   first.lines};
    result_of_run.probes_hit = first.probes_hit;
  }
  return result_of_run;
}

// State that is kept per processor core must not depend on the core that the system selects.
void stay_on_one_core() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (auto core = ::sched_getcpu(); core >= 0) {
    CPU_SET(core, &cores);
    ::sched_setaffinity(0, sizeof(cores), &cores);
  }
}

} // namespace

run_result run_here(const run_choice& choice, bool tracing) {
  stay_on_one_core();
  auto simulation = std::make_unique<world>(choice.settings, tracing, choice.planted);
  run_result result_of_run;
  result_of_run.final_outcome = simulation->run();
  result_of_run.probes_hit = simulation->probes_hit();
  if (!result_of_run.final_outcome.violation.empty())
    simulation.release(); // actor systems that still run something cannot end
  return result_of_run;
}

void run_apart(const std::vector<run_choice>& choices, size_t jobs,
               const std::function<bool(const run_choice&, const run_result&)>& on_result) {
  ledger::ops(); // initialized once, not in each child
  std::vector<child> running;
  size_t next = 0;
  bool stop = false;
  while (!running.empty() || (next < choices.size() && !stop)) {
    while (running.size() < jobs && next < choices.size() && !stop)
      running.push_back(start(choices[next++]));
    std::vector<pollfd> polled;
    for (const auto& seed_process : running)
      polled.push_back({seed_process.from, POLLIN, 0});
    ::poll(polled.data(), polled.size(), 1000);
    for (size_t i = running.size(); i-- > 0;) {
      auto& seed_process = running[i];
      auto hung = hangs(seed_process);
      if (!polled[i].revents && !hung)
        continue;
      char bytes[4096];
      auto count = hung ? 0 : ::read(seed_process.from, bytes, sizeof(bytes));
      if (count > 0) {
        seed_process.output_read.append(bytes, static_cast<size_t>(count));
        continue;
      }
      auto result_of_run = finish(seed_process, hung);
      const auto* choice = seed_process.choice;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      if (!stop && !on_result(*choice, result_of_run))
        stop = true;
    }
  }
}

std::string output_of(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe(ends) != 0)
    std::abort();
  auto pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], 1);
    ::close(ends[0]);
    ::close(ends[1]);
    std::vector<char*> words{const_cast<char*>("troupe_simulate")};
    for (const auto& argument : arguments)
      words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    ::execv("/proc/self/exe", words.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string output;
  char bytes[65536];
  for (ssize_t count; (count = ::read(ends[0], bytes, sizeof(bytes))) > 0;)
    output.append(bytes, static_cast<size_t>(count));
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  return output;
}

} // namespace troupe::simulate
