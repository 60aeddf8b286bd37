// Synchronous training by replicas, some of which may be missing (docs/decisions/058): a client
// runs the steps of the chief and of the replicas, with the graphs of `replicas`.
#include "tests/simulate/client_host.hpp"

#include <algorithm>

namespace troupe::simulate {

using namespace std::chrono_literals;

namespace {

// A step that waits for replicas that are gone ends within this time.
constexpr duration step_patience = 5s, prepare_patience = 20s, pause = 100ms, longest_pause = 500ms;
constexpr int last_updates = 3, last_tries = 8;

std::string numbers(int64_t count, int64_t one_at = -1) {
  std::string text = "i64[";
  for (int64_t i = 0; i < count; ++i)
    text += concat(i ? ", " : "", i == one_at ? 1 : 0);
  return text + ']';
}

} // namespace

struct client_host::training {
  enum kind : size_t { begin, open, apply, work }; // work + i: of replica i
  struct part {
    std::unique_ptr<test::text_case> text;
    std::vector<int> processes;
    std::shared_ptr<prepared_step> step = {};
    bool is_asked = false;
  };

  uint64_t generation;
  bool is_last;
  int64_t replicas, required;
  std::vector<part> parts = {};
  bool begun = false, opened = false, over = false;
  int lanes = 0, updates = 0, failures = 0;
  std::function<void()> then = {};
};

// -- the steps -----------------------------------------------------------------------------------

// A gradient is the number of the replica's run, at the replica's index: the sum shows which
// gradients it contains. Updates add to the variables, so that a variable shows which sums it
// contains.
void client_host::make_parts(training& train_state) const {
  const std::string ps = " @\"/job:ps/task:0\"\n", shared = " container=\"training\" shared_name=";
  auto n = train_state.replicas;
  auto state =
      concat("acc = ConditionalAccumulator dtype=i64 shape=[", n, "] reduction_type=\"SUM\"",
             shared, "\"acc\"", ps, "clock = ReplicaClock ", "replicas=", n, shared, "\"clock\"",
             ps, "v = VariableV2 dtype=i64 shape=[", n, "]", shared, "\"v\"", ps);
  auto fed = [](const std::string& at) {
    return concat("id = Placeholder dtype=i64 shape=[]", at, "label = Placeholder dtype=i64 ",
                  "shape=[]", at);
  };
  const std::string feeds = "feed id = i64(1)\nfeed label = i64(1)\n";
  // Older gradients are dropped, then those that are present; then all replicas are notified of the
  // step.
  auto open_step = [&](const std::string& after) {
    return concat("older = AccumulatorSetGlobalStep(acc, label, ^", after, ")", ps,
                  "clear = AccumulatorClear(acc, ^older)", ps,
                  "set = ReplicaClockSet(clock, label, ^clear)", ps, feeds, "target set\n");
  };
  auto notify = concat("t = Tally(id, id) slot=0 event=4", ps);
  auto add = [&](const std::string& text, int worker) {
    std::vector<int> on{layout_.client(number_), layout_.server(0)};
    if (worker >= 0)
      on.push_back(layout_.worker(worker));
    train_state.parts.push_back(
        {std::make_unique<test::text_case>(text, "training", &ledger::ops()), std::move(on)});
  };
  add(concat(fed(ps), state, notify, "zero = Assign(v, ", numbers(n), ", ^t)", ps,
             open_step("zero")),
      -1);
  add(concat(fed(ps), state, notify, open_step("t")), -1);
  add(concat(fed(ps), state, "got = AccumulatorTakeGradient(acc, i32(", train_state.required,
             ")) dtype=i64", ps, "taken = Tally(id, got) slot=0 event=8", ps,
             "more = AssignAdd(v, taken)", ps, "done = Tally(id, taken, ^more) slot=1 event=9", ps,
             "next = Add(label, i64(1))", ps, "set = ReplicaClockSet(clock, next, ^done)", ps,
             feeds, "fetch done\nfetch more\ntarget set\n"),
      -1);
  for (int64_t i = 0; i < n; ++i) {
    auto worker = static_cast<int>(i) % layout_.workers;
    auto at = concat(" @\"/job:worker/task:", worker, "\"\n");
    add(concat(fed(at), state, "now = Identity(v)", at, "t = Tally(id, id, ^now) slot=0 event=4",
               at, "grad = Mul(t, ", numbers(n, i), ")", at,
               "put = AccumulatorApplyGradient(acc, label, grad) contributor=", i, ps,
               "next = ReplicaClockAwait(clock, label, ^put)", ps, feeds, "fetch next\n"),
        worker);
  }
}

// Runs one of the steps; `then` receives its outcome and its fetches.
void client_host::run_part(
    const training_ptr& train_state, size_t part_index, int64_t label,
    std::function<void(const status&, run_record*, const std::vector<tensor>&)> then) {
  auto& part = train_state->parts[part_index];
  if (!part.step)
    return ask_prepare(
        *part.text->nodes, test::signature_of(part.text->text.runs[0]),
        concat("training ", part_index), part.processes, core_.now + prepare_patience,
        [=, this, &part](const status& outcome, std::shared_ptr<prepared_step> prepared) {
          if (outcome.ok() && train_state->generation == generation_) {
            part.step = std::move(prepared);
            run_part(train_state, part_index, label, then);
          } else {
            then(outcome.ok() ? failure(error_kind::cancelled, "the session is another") : outcome,
                 nullptr, {});
          }
        });
  auto& record = ledger_.begin(
      {.kind = run_kind::training,
       .client = number_,
       .server = layout_.server(0),
       .processes = part.processes,
       .slots = part_index == training::apply ? 2 : 1,
       .issued = core_.now,
       .deadline = core_.now + step_patience,
       .session = generation_,
       .replica = static_cast<int64_t>(part_index) - static_cast<int64_t>(training::work),
       .label = label,
       .min_gradients = train_state->required});
  std::vector<tensor> feeds{tensor::scalar(static_cast<int64_t>(record.number)),
                            tensor::scalar(label)};
  ask_run(record, part.step, std::move(feeds),
          [=, this, &record](const status& outcome, const std::vector<tensor>& fetches) {
            note_end(record, outcome);
            // The ops that open a chief's step cancel waiting takes, even late ones.
            auto cleared = outcome.kind() == error_kind::cancelled && part_index == training::apply;
            if (outcome.ok()) {
              ledger_.succeeded(record);
            } else if (!cleared) {
              check_error(outcome, record.processes, record.issued, record.deadline,
                          concat("training ", part_index, " as run ", record.number),
                          part_index >= training::apply);
            }
            then(outcome, &record, fetches);
          });
}

// -- chief and replicas --------------------------------------------------------------------------

void client_host::train(bool is_last, std::function<void()> then) {
  auto n = core_.settings.replicas;
  training_ptr new_state{new training{.generation = generation_,
                                      .is_last = is_last,
                                      .replicas = n,
                                      .required = n - n / 3,
                                      .then = std::move(then)}};
  make_parts(*new_state);
  new_state->lanes = static_cast<int>(n) + 1;
  busy_ += new_state->lanes;
  lead(new_state);
  for (int64_t i = 0; i < n; ++i)
    follow(new_state, static_cast<size_t>(i), -1);
}

bool client_host::goes_on(const training& train_state) const {
  return !core_.violation() && train_state.generation == generation_ && !train_state.over &&
         (!stopping_ || train_state.is_last);
}

void client_host::leave(const training_ptr& train_state) {
  if (train_state->generation != generation_)
    return;
  --busy_;
  if (--train_state->lanes == 0 && train_state->then && !core_.violation())
    train_state->then();
}

// The chief: opens a step, and then takes gradients and updates, until a step fails. After a
// failure, labels grow by two, so that gradients computed before are too old.
void client_host::lead(const training_ptr& train_state) {
  if (!goes_on(*train_state))
    return leave(train_state);
  auto part_index = !train_state->begun    ? training::begin
                    : !train_state->opened ? training::open
                                           : training::apply;
  if (part_index != training::apply)
    training_label_ += 2;
  run_part(train_state, part_index, training_label_,
           [=, this](const status& outcome, run_record* run, const std::vector<tensor>& fetches) {
             if (!outcome.ok()) {
               if (part_index == training::begin)
                 ledger_.doubt_training();
               train_state->opened = false;
               if (outcome.kind() == error_kind::failed_precondition)
                 train_state->begun = false;
               if (train_state->is_last && goes_on(*train_state) &&
                   ++train_state->failures > last_tries) {
                 core_.violated("a training run ends when faults are over", name(), ": ",
                                first_line(outcome));
               }
               return core_.after(pause, [=, this] { lead(train_state); });
             }
             if (part_index == training::apply) {
               ledger_.trained(*run, fetches[1]);
               ++training_label_;
               if (train_state->is_last && ++train_state->updates == last_updates)
                 return release(train_state);
             } else {
               if (part_index == training::begin)
                 ledger_.began_training(*run);
               train_state->begun = train_state->opened = true;
             }
             // An immediate update makes late replicas find that they are late; otherwise all are
             // in time.
             core_.after(training_chance_.permille(500)
                             ? duration{0}
                             : training_chance_.between(duration{0}, longest_pause),
                         [=, this] { lead(train_state); });
           });
}

// Releases the replicas that wait for the next step.
void client_host::release(const training_ptr& train_state) {
  train_state->over = true;
  training_label_ += 2;
  run_part(
      train_state, training::open, training_label_,
      [=, this](const status&, run_record*, const std::vector<tensor>&) { leave(train_state); });
}

// A replica: computes a gradient for the step that it knows, and waits for the next. A failed run
// may still have contributed its gradient.
void client_host::follow(const training_ptr& train_state, size_t replica, int64_t label) {
  if (!goes_on(*train_state))
    return leave(train_state);
  if (!train_state->opened) {
    core_.after(pause, [=, this] { follow(train_state, replica, -1); });
    return;
  }
  run_part(train_state, training::work + replica, label < 0 ? training_label_ : label,
           [=, this](const status& outcome, run_record*, const std::vector<tensor>& fetches) {
             if (outcome.ok())
               return follow(train_state, replica, *fetches[0].data<int64_t>());
             core_.after(pause, [=, this] { follow(train_state, replica, -1); });
           });
}

} // namespace troupe::simulate
