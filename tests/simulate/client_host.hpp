// A simulated machine with a client: a session, and lanes that run one step after another.
#pragma once
#include "tests/simulate/network.hpp"
#include "tests/simulate/random_program.hpp"
#include "tests/simulate/step_texts.hpp"
#include "tests/simulate/task_host.hpp"
#include "troupe/actors/session/prepared_step.hpp"

namespace troupe::simulate {

std::string first_line(const status& outcome);

class client_host {
public:
  client_host(core& simulation, network& in, ledger& book, const cluster_spec& cluster,
              const layout& lay, int number, std::vector<std::unique_ptr<task_host>>& tasks);

  void open();
  /// Ends the session and everything that it runs.
  void close(network::departure leave_mode);
  process* running() noexcept { return process_.get(); }

  /// No more faults: from now on deadlines are long, and nothing is reset.
  void calm_down() { calm_ = true; }
  /// Its lanes end when their present steps end.
  void stop() { stopping_ = true; }
  bool idle() const;
  /// Runs a step of each kind until it succeeds, with a few attempts; then empties the queues.
  void final_round(std::function<void()> then);

  void check_waits();
  uint64_t succeeded() const noexcept { return succeeded_; }
  uint64_t failed() const noexcept { return failed_; }
  bool repeats_updates = false; ///< a defect, planted to test the simulation

private:
  struct wait {
    std::string description;
    time_point bound;
  };
  using on_end = std::function<void(const status&)>;

  struct stopping;
  using stopping_ptr = std::shared_ptr<stopping>;
  /// Draws whether the request is stopped soon; null if it is not.
  stopping_ptr draw_stop(const std::string& description);
  void stop(const std::string& description, const stopping_ptr& may_stop, uint64_t generation);
  static std::stop_token token_of(const stopping_ptr& may_stop, uint64_t wait);
  static bool was_stopped(const stopping_ptr& may_stop, const status& outcome);

  void lane(uint64_t generation);
  void run(size_t step_index, time_point deadline, on_end then, uint64_t repeated_number = 0);
  void start_run(size_t step_index, time_point deadline, on_end then, uint64_t repeated_number,
                 const stopping_ptr& may_stop);
  void prepare(size_t step_index, time_point deadline, on_end then,
               const stopping_ptr& may_stop = nullptr);
  void reset(on_end then);

  struct program_run;
  /// Draws a program, and runs it a few times, until a step of it fails.
  void run_program(bool is_last, on_end then);
  void go_on(const std::shared_ptr<program_run>& run, on_end then);
  void final_program(int tries, std::function<void()> then);

  struct training;
  using training_ptr = std::shared_ptr<training>;
  /// Trains until the session ends; in the final round, until variables were updated a few times.
  void train(bool is_last, std::function<void()> then);
  void make_parts(training& train_state) const;
  void run_part(const training_ptr& train_state, size_t part_index, int64_t label,
                std::function<void(const status&, run_record*, const std::vector<tensor>&)> then);
  bool goes_on(const training& train_state) const;
  void lead(const training_ptr& train_state);
  void follow(const training_ptr& train_state, size_t replica, int64_t label);
  void release(const training_ptr& train_state);
  void leave(const training_ptr& train_state);

  /// Sends a request to the session. The session must answer in time; a failure must have an
  /// injected cause.
  void ask_prepare(const graph& step_graph, const step_signature& signature,
                   const std::string& description, const std::vector<int>& processes,
                   time_point deadline,
                   std::function<void(const status&, std::shared_ptr<prepared_step>)> then,
                   const stopping_ptr& may_stop = nullptr);
  void ask_run(const run_record& record, const std::shared_ptr<prepared_step>& step,
               std::vector<tensor> feeds,
               std::function<void(const status&, const std::vector<tensor>&)> then,
               const stopping_ptr& may_stop = nullptr);
  void note_end(run_record& run, const status& outcome);
  void check_state(const run_record& run);
  void list_devices(on_end then);
  void ended(size_t step_index, run_record& run, const status& outcome,
             const std::vector<tensor>& fetches);
  std::vector<int> tasks_named_in(const status& error) const;
  void check_error(const status& error, const std::vector<int>& processes, time_point issued,
                   time_point deadline, const std::string& description, bool may_wait);
  bool is_end_of_queue(const run_record& run, const status& error) const;
  void final_step(size_t step_index, int tries, std::function<void()> then);
  void final_shut(int server, std::function<void()> then);
  void final_own(int server, size_t stage, int tries, std::function<void()> then);
  void drain(int server, run_kind kind, int tries, std::function<void()> then);
  size_t step_of(run_kind kind, int process) const;
  uint64_t incarnation_of(int process) const;
  std::vector<int> all_processes() const;
  uint64_t expect(std::string description, time_point bound);
  void answered(uint64_t wait);
  template <class Answer, class Question>
  void ask(Question question, std::function<void(status, Answer)> then);
  std::string name() const { return concat("client ", number_); }

  core& core_;
  network& network_;
  ledger& ledger_;
  const cluster_spec& cluster_;
  const layout layout_;
  int number_;
  std::vector<std::unique_ptr<task_host>>& tasks_;
  dice chance_, program_chance_, stop_chance_;
  std::vector<server_kinds> kinds_; // per server
  std::vector<step_text> steps_;
  std::unique_ptr<process> process_;
  caf::actor session_;
  std::map<size_t, std::shared_ptr<prepared_step>> prepared_;
  std::map<int, uint64_t> held_; // incarnations of servers that steps have succeeded on
  std::set<int> lost_reported_;  // servers whose loss the session has been notified of
  std::map<uint64_t, wait> waits_;
  uint64_t next_wait_ = 1, generation_ = 0;
  int busy_ = 0;
  uint64_t programs_ = 0; // the number of programs drawn
  bool in_program_ = false;
  dice training_chance_{core_.settings.seed, "training"};
  int64_t training_label_ = 0; // across all sessions; it only grows
  bool calm_ = false, stopping_ = false, closing_ = false;
  uint64_t succeeded_ = 0, failed_ = 0;
};

} // namespace troupe::simulate
