// Random programs, as a client runs them: one at a time, each until a step of it fails.
#include "tests/simulate/client_host.hpp"

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// Each may go from task to task many times.
constexpr duration patience = 20s;
constexpr int turns = 3;

} // namespace

struct client_host::program_run {
  random_program what;
  uint64_t generation, state_since;
  bool is_last;
  std::shared_ptr<prepared_step> begin = {}, turn = {};
  std::map<size_t, uint64_t> state_on = {}; // incarnations of processes
  int turns_left = turns;
};

void client_host::run_program(bool is_last, on_end then) {
  in_program_ = true;
  std::shared_ptr<program_run> made{
      new program_run{.what = random_program{core_, ledger_, layout_, number_, ++programs_},
                      .generation = generation_,
                      .state_since = ledger_.order(),
                      .is_last = is_last}};
  go_on(made, [=, this, generation = generation_](const status& why) {
    if (generation == generation_)
      in_program_ = false;
    then(why);
  });
}

// Where a step fails, the next program has state of its own.
void client_host::final_program(int tries, std::function<void()> then) {
  if (core_.found())
    return;
  run_program(true, [=, this](const status& why) {
    if (why.ok())
      return then();
    if (tries == 1)
      return core_.violated("all works again when faults are over", name(),
                            ": program: ", first_line(why));
    core_.after(100ms, [=, this] { final_program(tries - 1, then); });
  });
}

void client_host::go_on(const std::shared_ptr<program_run>& of, on_end then) {
  if (core_.found())
    return;
  if (of->generation != generation_ || (stopping_ && !of->is_last) || of->turns_left == 0)
    return then({});
  auto begins = of->state_on.empty();
  const auto& what = begins ? of->what.begin() : of->what.turn();
  auto& step = begins ? of->begin : of->turn;
  auto next = [=, this](const status& why) {
    if (why.ok())
      go_on(of, then);
    else
      then(why);
  };
  if (!step)
    return ask_prepare(of->what.nodes(), what, concat("program ", programs_), everybody(),
                       core_.now + patience,
                       [=, this, &step](const status& why, std::shared_ptr<prepared_step> made) {
                         step = std::move(made);
                         next(why);
                       });
  auto& record = ledger_.begin({.kind = run_kind::program,
                                .client = number_,
                                .processes = everybody(),
                                .wanted = of->what.interpret(what),
                                .state_since = of->state_since,
                                .issued = core_.now,
                                .deadline = core_.now + patience,
                                .session = generation_});
  if (core_.found())
    return;
  ask_run(record, step, of->what.feeds(what, record.number),
          [=, this, &record](const status& why, const std::vector<tensor>& fetches) {
            note_end(record, why);
            if (!why.ok()) {
              check_error(why, record.processes, record.issued, record.deadline,
                          concat("program ", record.number), false);
              return then(why);
            }
            ledger_.succeeded(record);
            if (begins)
              of->state_on = record.ran_on;
            if (record.ran_on != of->state_on)
              return then({}); // what it began with is lost, and it was told
            if (auto wrong = of->what.difference(fetches); !wrong.empty())
              core_.violated("a program does what an interpreter does", name(), ": run ",
                             record.number, ": ", wrong);
            of->turns_left -= !begins;
            next({});
          });
}

} // namespace troupe::simulate
