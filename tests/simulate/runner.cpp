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

// Until a seed counts as one that hangs: of its processor's time, because other programs may have
// the processor, and of real time, because it may wait for ever.
constexpr double patient_cpu_seconds = 60, patient_seconds = 3600;

// std::chrono's steady clock is the simulation's.
double real_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct child {
  const run_choice* what;
  pid_t pid = -1;
  int from = -1;
  double begun = 0;
  std::string said = {};
};

bool hangs(const child& one) {
  clockid_t its_clock;
  timespec used{};
  if (::clock_getcpuclockid(one.pid, &its_clock) == 0 && ::clock_gettime(its_clock, &used) == 0 &&
      static_cast<double>(used.tv_sec) > patient_cpu_seconds)
    return true;
  return real_seconds() - one.begun > patient_seconds;
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

child start(const run_choice& what) {
  int ends[2];
  if (::pipe(ends) != 0)
    std::abort();
  std::fflush(nullptr);
  auto pid = ::fork();
  if (pid < 0)
    std::abort();
  if (pid == 0) {
    ::close(ends[0]);
    auto made = run_here(what, false);
    numbers first{
        made.what.virtual_seconds, made.what.succeeded, made.what.failed, made.what.faults,
        made.what.messages,        made.what.lines,     made.probes_hit};
    write_all(ends[1], reinterpret_cast<const char*>(&first), sizeof(first));
    write_all(ends[1], made.what.found.data(), made.what.found.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  return {&what, pid, ends[0], real_seconds()};
}

run_result finish(child& one, bool hung) {
  if (hung)
    ::kill(one.pid, SIGABRT);
  ::close(one.from);
  int code = 0;
  rusage used{};
  ::wait4(one.pid, &code, 0, &used);
  run_result made;
  made.seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  if (hung) {
    made.what.found = "a seed ends: it took minutes of a processor, or waits";
  } else if (WIFSIGNALED(code)) {
    made.what.found =
        concat("no process dies: signal ", WTERMSIG(code), " (", ::strsignal(WTERMSIG(code)), ")");
  } else if (one.said.size() < sizeof(numbers)) {
    made.what.found = concat("no process dies: exit code ", WEXITSTATUS(code));
  } else {
    numbers first;
    std::memcpy(&first, one.said.data(), sizeof(first));
    made.what = {one.said.substr(sizeof(first)),
                 first.virtual_seconds,
                 first.succeeded,
                 first.failed,
                 first.faults,
                 first.messages,
                 first.lines};
    made.probes_hit = first.probes_hit;
  }
  return made;
}

// What is noted by the core that a thread runs on must not depend on where the system puts it.
void stay_on_one_core() {
  cpu_set_t one;
  CPU_ZERO(&one);
  if (auto core = ::sched_getcpu(); core >= 0) {
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof(one), &one);
  }
}

} // namespace

run_result run_here(const run_choice& what, bool tracing) {
  stay_on_one_core();
  auto all = std::make_unique<world>(what.with, tracing, what.planted);
  run_result made;
  made.what = all->run();
  made.probes_hit = all->probes_hit();
  if (!made.what.found.empty())
    all.release(); // actor systems that still run something cannot end
  return made;
}

void run_apart(const std::vector<run_choice>& all, size_t jobs,
               const std::function<bool(const run_choice&, const run_result&)>& on_result) {
  ledger::ops(); // once, not in each child
  std::vector<child> running;
  size_t next = 0;
  bool stop = false;
  while (!running.empty() || (next < all.size() && !stop)) {
    while (running.size() < jobs && next < all.size() && !stop)
      running.push_back(start(all[next++]));
    std::vector<pollfd> polled;
    for (const auto& one : running)
      polled.push_back({one.from, POLLIN, 0});
    ::poll(polled.data(), polled.size(), 1000);
    for (size_t i = running.size(); i-- > 0;) {
      auto& one = running[i];
      auto hung = hangs(one);
      if (!polled[i].revents && !hung)
        continue;
      char bytes[4096];
      auto count = hung ? 0 : ::read(one.from, bytes, sizeof(bytes));
      if (count > 0) {
        one.said.append(bytes, static_cast<size_t>(count));
        continue;
      }
      auto made = finish(one, hung);
      const auto* what = one.what;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      if (!stop && !on_result(*what, made))
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
    for (const auto& one : arguments)
      words.push_back(const_cast<char*>(one.c_str()));
    words.push_back(nullptr);
    ::execv("/proc/self/exe", words.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string all;
  char bytes[65536];
  for (ssize_t count; (count = ::read(ends[0], bytes, sizeof(bytes))) > 0;)
    all.append(bytes, static_cast<size_t>(count));
  ::close(ends[0]);
  ::waitpid(pid, nullptr, 0);
  return all;
}

} // namespace troupe::simulate
