// troupe_simulate: a cluster in one thread and in virtual time, with faults drawn from a seed.
#include "tests/simulate/runner.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace troupe::simulate {
namespace {

const char* help =
    R"(troupe_simulate: runs clusters in one thread, in virtual time, with faults drawn from seeds

  --seed N             runs one seed in this process
  --seeds A..B         runs each seed in a process of its own, and prints those that fail
  --trace              with --seed: prints a line for each event: time, subject, action, details
  --set NAME=VALUE     sets an option that the seed draws otherwise; may be repeated
  --event EVENT        injects a fault, such as '12.5 partition worker:0 ps:1 for 3'; may be
                       repeated, and replaces all faults that the seed draws. Of one process:
                       crash, replace (a crash without notice to peers), pause, shortage (of
                       memory), reopen (of a client's session). Of two processes: partition, stop
                       (only from the first to the second), loss (of their connections)
  --shrink             with --seed: switches options off, one by one, while the seed still fails
  --replay A..B        runs each seed twice, and compares the traces
  --canary NAME        with --seeds: plants a defect that must be found: repeat (a client repeats
                       an update that may have run), deaf (tasks do not detect silent peers)
  --jobs N             number of concurrent processes (1)
  --probes             fails if a place that the sources mark was not reached
  --keep-going         continues after ten failing seeds
  --help               prints this

Exits with 1 if a promise was broken, or if no seed found the defect of --canary. Options, which
the seed draws:

)";

struct arguments {
  std::optional<std::pair<uint64_t, uint64_t>> seeds;
  bool one_seed = false, trace = false, shrink = false, replay = false, probes = false,
       keep_going = false;
  size_t jobs = 1;
  canary planted = canary::none;
  std::vector<std::string> set, events;
};

[[noreturn]] void give_up(const std::string& message) {
  std::fprintf(stderr, "troupe_simulate: %s; see --help\n", message.c_str());
  std::exit(2);
}

uint64_t number(std::string_view text) {
  uint64_t value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    give_up(concat("'", text, "' is not a number"));
  return value;
}

std::pair<uint64_t, uint64_t> range(std::string_view text) {
  auto dots = text.find("..");
  if (dots == text.npos)
    give_up(concat("'", text, "' is not a range of seeds, such as 1..100"));
  return {number(text.substr(0, dots)), number(text.substr(dots + 2))};
}

arguments read(int count, char** words) {
  arguments arguments_read;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    auto value = [&]() -> std::string_view {
      return i + 1 < count ? words[++i] : (give_up(concat(word, " needs a value")), "");
    };
    if (word == "--seed") {
      auto seed = number(value());
      arguments_read.seeds = {seed, seed};
      arguments_read.one_seed = true;
    } else if (word == "--seeds") {
      arguments_read.seeds = range(value());
    } else if (word == "--replay") {
      arguments_read.seeds = range(value());
      arguments_read.replay = true;
    } else if (word == "--set") {
      arguments_read.set.emplace_back(value());
    } else if (word == "--event") {
      arguments_read.events.emplace_back(value());
    } else if (word == "--jobs") {
      arguments_read.jobs = std::max<size_t>(1, number(value()));
    } else if (word == "--canary") {
      auto name = value();
      if (name != "repeat" && name != "deaf")
        give_up(concat("there is no canary '", name, "'"));
      arguments_read.planted = name == "repeat" ? canary::repeated_updates : canary::deaf_listener;
    } else if (word == "--trace") {
      arguments_read.trace = true;
    } else if (word == "--shrink") {
      arguments_read.shrink = true;
    } else if (word == "--probes") {
      arguments_read.probes = true;
    } else if (word == "--keep-going") {
      arguments_read.keep_going = true;
    } else if (word == "--help" || word == "-h") {
      std::fputs(help, stdout);
      for (const auto& option : all_options())
        std::printf("  %-16s %s\n", option.name, option.doc);
      std::exit(0);
    } else {
      give_up(concat("unknown argument '", word, "'"));
    }
  }
  if (!arguments_read.seeds)
    give_up("--seed N, --seeds A..B or --replay A..B is missing");
  return arguments_read;
}

options drawn(uint64_t seed, const arguments& request) {
  auto chosen = options::draw(seed);
  if (!request.events.empty())
    chosen.calm();
  for (const auto& setting : request.set)
    if (auto done = chosen.set(setting); !done)
      give_up(done.message());
  const layout processes = layout_of(chosen);
  for (const auto& text : request.events) {
    auto event = scripted_fault::parse(text);
    if (!event)
      give_up(event.status().message());
    for (const auto* name : {&event->first, &event->second})
      if (auto index = index_in(processes, *name); !name->empty() && !index)
        give_up(index.status().message());
    // Faults of tasks are crash, replace and shortage; the fault of clients is reopen.
    auto of_client = event->first.starts_with("client:");
    if ((event->kind == "reopen") != of_client &&
        (event->kind == "reopen" || event->kind == "crash" || event->kind == "replace" ||
         event->kind == "shortage"))
      give_up(concat("'", text, "': ", event->kind, " affects a ",
                     of_client ? "task, not a client" : "client, not a task"));
    auto end = std::chrono::ceil<std::chrono::seconds>(event->at + event->lasts).count();
    chosen.fault_seconds = std::max<int64_t>(chosen.fault_seconds, end + 1);
    chosen.script.push_back(*std::move(event));
  }
  return chosen;
}

std::string promise_of(const std::string& violation) {
  return violation.substr(0, violation.find(':'));
}

int run_one(const arguments& request) {
  auto chosen = drawn(request.seeds->first, request);
  std::printf("%s\n", to_string(chosen).c_str());
  auto result_of_run = run_here({chosen, request.planted}, request.trace);
  std::printf("%s\n", result_of_run.final_outcome.violation.empty()
                          ? "all promises were kept"
                          : result_of_run.final_outcome.violation.c_str());
  std::printf("%.1f virtual s, %llu steps succeeded, %llu failed, %llu faults, %llu messages\n",
              result_of_run.final_outcome.virtual_seconds,
              static_cast<unsigned long long>(result_of_run.final_outcome.succeeded),
              static_cast<unsigned long long>(result_of_run.final_outcome.failed),
              static_cast<unsigned long long>(result_of_run.final_outcome.faults),
              static_cast<unsigned long long>(result_of_run.final_outcome.messages));
  return result_of_run.final_outcome.violation.empty() ? 0 : 1;
}

int shrink(const arguments& request) {
  auto smallest = drawn(request.seeds->first, request);
  auto find_violation = [&](const options& tried) {
    std::string promise;
    std::vector<run_choice> choices{{tried, request.planted}};
    run_apart(choices, 1, [&](const run_choice&, const run_result& result_of_run) {
      promise = promise_of(result_of_run.final_outcome.violation);
      return true;
    });
    return promise;
  };
  auto promise = find_violation(smallest);
  if (promise.empty())
    return std::printf("seed %llu keeps all promises\n",
                       static_cast<unsigned long long>(smallest.seed)),
           1;
  std::printf("broken: %s\n", promise.c_str());
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const auto& option : all_options()) {
      auto value = smallest.*option.value;
      for (auto tried : {option.off, (option.off + value) / 2}) {
        if (tried == smallest.*option.value)
          continue;
        auto reduced = smallest;
        reduced.*option.value = tried;
        if (find_violation(reduced) != promise)
          continue;
        smallest = reduced;
        smaller = true;
        std::printf("  still with %s=%lld\n", option.name, static_cast<long long>(tried));
        std::fflush(stdout);
        break;
      }
    }
  }
  auto full = options::draw(smallest.seed);
  std::string command = concat("troupe_simulate --seed ", smallest.seed);
  for (const auto& option : all_options())
    if (smallest.*option.value != full.*option.value)
      command += concat(" --set ", option.name, '=', smallest.*option.value);
  std::printf("%s --trace\n", command.c_str());
  return 0;
}

int replay(const arguments& request) {
  int different = 0;
  for (auto seed = request.seeds->first; seed <= request.seeds->second; ++seed) {
    std::vector<std::string> words{"--seed", std::to_string(seed), "--trace"};
    for (const auto& setting : request.set)
      words.insert(words.end(), {"--set", setting});
    for (const auto& event : request.events)
      words.insert(words.end(), {"--event", event});
    auto first = output_of(words), second = output_of(words);
    if (first == second && !first.empty())
      continue;
    ++different;
    auto at = std::ranges::mismatch(first, second).in1 - first.begin();
    auto line = std::count(first.begin(), first.begin() + at, '\n') + 1;
    std::printf("seed %llu: two runs differ from line %lld on\n",
                static_cast<unsigned long long>(seed), static_cast<long long>(line));
  }
  std::printf("%llu seeds ran twice, %d differ\n",
              static_cast<unsigned long long>(request.seeds->second - request.seeds->first + 1),
              different);
  return different > 0;
}

int run_many(const arguments& request) {
  std::vector<run_choice> choices;
  for (auto seed = request.seeds->first; seed <= request.seeds->second; ++seed)
    choices.push_back({drawn(seed, request), request.planted});
  uint64_t failed = 0, ran = 0, hits = 0;
  outcome sum;
  double seconds = 0;
  run_apart(choices, request.jobs, [&](const run_choice& choice, const run_result& result_of_run) {
    ++ran;
    seconds += result_of_run.seconds;
    hits |= result_of_run.probes_hit;
    sum.virtual_seconds += result_of_run.final_outcome.virtual_seconds;
    sum.succeeded += result_of_run.final_outcome.succeeded;
    sum.failed += result_of_run.final_outcome.failed;
    sum.faults += result_of_run.final_outcome.faults;
    sum.messages += result_of_run.final_outcome.messages;
    if (result_of_run.final_outcome.violation.empty())
      return true;
    ++failed;
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(choice.settings.seed),
                result_of_run.final_outcome.violation.c_str());
    std::fflush(stdout);
    return request.planted == canary::none && (request.keep_going || failed < 10);
  });
  std::printf(
      "%llu seeds, %llu failed; %.0f virtual s in %.1f s of a core: %.0f times as fast, %.1f "
      "seeds/s\n"
      "%llu steps succeeded, %llu failed, %llu faults, %llu messages\n",
      static_cast<unsigned long long>(ran), static_cast<unsigned long long>(failed),
      sum.virtual_seconds, seconds, sum.virtual_seconds / seconds,
      static_cast<double>(ran) / seconds, static_cast<unsigned long long>(sum.succeeded),
      static_cast<unsigned long long>(sum.failed), static_cast<unsigned long long>(sum.faults),
      static_cast<unsigned long long>(sum.messages));
  if (request.planted != canary::none) {
    std::printf(failed ? "the canary was found\n" : "the canary was not found\n");
    return failed ? 0 : 1;
  }
  size_t missing = 0;
  const auto& probes = probes::all();
  for (size_t i = 0; i < probes.size(); ++i)
    if (!(hits >> i & 1)) {
      ++missing;
      std::printf("never reached: %s\n", probes[i]->name);
    }
  return failed > 0 || (request.probes && missing > 0);
}

} // namespace
} // namespace troupe::simulate

int main(int count, char** words) {
  using namespace troupe::simulate;
  auto request = read(count, words);
  auto code = request.replay     ? replay(request)
              : request.shrink   ? shrink(request)
              : request.one_seed ? run_one(request)
                                 : run_many(request);
  std::fflush(nullptr);
  std::_Exit(code); // a broken promise may have left actors behind
}
