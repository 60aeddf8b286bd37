// Random programs run by a client: one at a time, each until one of its steps fails.
#include "tests/simulate/client_host.hpp"

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// A step may move between tasks many times.
constexpr duration patience = 20s;
constexpr int turns = 3;

} // namespace

struct client_host::program_run {
  random_program program;
  uint64_t generation, state_since;
  bool is_last;
  std::shared_ptr<prepared_step> begin = {}, turn = {};
  std::map<size_t, uint64_t> state_on = {}; // incarnations of processes
  int turns_left = turns;
};

void client_host::run_program(bool is_last, on_end then) {
  in_program_ = true;
  std::shared_ptr<program_run> new_run{
      new program_run{.program = random_program{core_, ledger_, layout_, number_, ++programs_},
                      .generation = generation_,
                      .state_since = ledger_.order(),
                      .is_last = is_last}};
  go_on(new_run, [=, this, generation = generation_](const status& outcome) {
    if (generation == generation_)
      in_program_ = false;
    then(outcome);
  });
}

// If a step fails, the next attempt uses a new program, with state of its own.
void client_host::final_program(int tries, std::function<void()> then) {
  if (core_.violation())
    return;
  run_program(true, [=, this](const status& outcome) {
    if (outcome.ok())
      return then();
    if (tries == 1)
      return core_.violated("every kind of step succeeds when faults are over", name(),
                            ": program: ", first_line(outcome));
    core_.after(100ms, [=, this] { final_program(tries - 1, then); });
  });
}

void client_host::go_on(const std::shared_ptr<program_run>& run, on_end then) {
  if (core_.violation())
    return;
  if (run->generation != generation_ || (stopping_ && !run->is_last) || run->turns_left == 0)
    return then({});
  auto begins = run->state_on.empty();
  const auto& signature = begins ? run->program.begin() : run->program.turn();
  auto& step = begins ? run->begin : run->turn;
  auto finish = [=, this](const status& outcome) {
    if (outcome.ok())
      go_on(run, then);
    else
      then(outcome);
  };
  if (!step)
    return ask_prepare(
        run->program.nodes(), signature, concat("program ", programs_), all_processes(),
        core_.now + patience,
        [=, this, &step](const status& outcome, std::shared_ptr<prepared_step> prepared) {
          step = std::move(prepared);
          finish(outcome);
        });
  auto& record = ledger_.begin({.kind = run_kind::program,
                                .client = number_,
                                .processes = all_processes(),
                                .expected = run->program.interpret(signature),
                                .state_since = run->state_since,
                                .issued = core_.now,
                                .deadline = core_.now + patience,
                                .session = generation_});
  if (core_.violation())
    return;
  ask_run(record, step, run->program.feeds(signature, record.number),
          [=, this, &record](const status& outcome, const std::vector<tensor>& fetches) {
            note_end(record, outcome);
            if (!outcome.ok()) {
              check_error(outcome, record.processes, record.issued, record.deadline,
                          concat("program ", record.number), false);
              return then(outcome);
            }
            ledger_.succeeded(record);
            if (begins)
              run->state_on = record.ran_on;
            if (record.ran_on != run->state_on)
              return then({}); // the program's state was lost, and the client was notified
            if (auto difference = run->program.difference(fetches); !difference.empty())
              core_.violated("a program has the interpreter's results", name(), ": run ",
                             record.number, ": ", difference);
            run->turns_left -= !begins;
            finish({});
          });
}

} // namespace troupe::simulate
