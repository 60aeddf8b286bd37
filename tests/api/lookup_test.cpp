// Lookup tables in sessions: concurrent steps, names, resets.
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/watchdog.hpp"
#include "troupe/troupe.hpp"

#include <atomic>
#include <thread>

namespace troupe::test::lookup_test {

TEST_CASE("concurrent inserts and lookups see whole inserts") {
  watchdog watch;
  graph_builder g;
  auto table = mutable_hash_table_v2(g, dtype::i64, dtype::f32);
  auto keys = g.placeholder(dtype::i64, {-1}, "keys");
  auto values = g.placeholder(dtype::f32, {-1}, "values");
  auto* insert = lookup_table_insert_v2(table, keys, values);
  auto values_of_keys = lookup_table_find_v2(table, keys, 0.f);
  auto s = session::local({.threads = {.intra_op = 1, .inter_op = 4}});
  auto put_step = s.prepare({keys, values}, {}, {insert});
  auto get = s.prepare({keys}, {values_of_keys});
  constexpr int64_t count = 100;
  std::vector<int64_t> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[static_cast<size_t>(i)] = i;
  auto all_keys = tensor::vector(numbers);
  std::atomic<int> writing = 2, torn = 0;
  {
    std::vector<std::jthread> threads;
    for (int writer = 0; writer < 2; ++writer)
      threads.emplace_back([&, writer] {
        for (int i = 0; i < 100; ++i)
          put_step.run({all_keys, tensor::vector(std::vector<float>(
                                      count, static_cast<float>(1 + writer * 1000 + i)))});
        --writing;
      });
    for (int reader = 0; reader < 2; ++reader)
      threads.emplace_back([&] {
        while (writing > 0) {
          auto values_found = get.run({all_keys})[0];
          for (auto value : values_found.values<float>())
            torn += value != values_found.values<float>()[0];
        }
      });
  }
  CHECK(torn == 0);
  auto last = get.run({all_keys})[0].values<float>()[0];
  CHECK((last == 100.f || last == 1100.f));
}

TEST_CASE("a reset clears tables") {
  graph_builder g;
  auto key_one = tensor::vector<int64_t>({1}), two = tensor::vector<int64_t>({2});
  auto absent = tensor::scalar<int64_t>(0);
  auto constant_table = hash_table(g, dtype::i64, dtype::i64, {}, "c");
  auto* init = initialize_table(constant_table, key_one, two);
  auto changes = mutable_hash_table(g, dtype::i64, dtype::i64, {}, "m");
  auto* insert = lookup_table_insert(changes, key_one, two);
  auto s = session::local();
  s.run({}, {}, {init, insert});
  CHECK(to_scalar<int64_t>(s.fetch(lookup_table_size(changes))) == 1);
  s.reset();
  CHECK(to_scalar<int64_t>(s.fetch(lookup_table_size(changes))) == 0);
  CHECK_THROWS_WITH(s.fetch(lookup_table_find(constant_table, key_one, absent)),
                    Catch::Contains("table 'c' is not initialized"));
  s.run(init);
  CHECK(s.fetch(lookup_table_find(constant_table, key_one, absent)).values<int64_t>()[0] == 2);
}

TEST_CASE("nodes with one name share a table, and must agree about it") {
  graph_builder g;
  auto key_one = tensor::vector<int64_t>({1});
  auto first = mutable_hash_table(g, dtype::i64, dtype::i64,
                                  {.container = {}, .shared_name = "numbers"}, "a");
  auto second = mutable_hash_table_v2(g, dtype::i64, dtype::i64,
                                      {.container = {}, .shared_name = "numbers"}, "b");
  auto other_table = mutable_hash_table(g, dtype::i64, dtype::f32,
                                        {.container = {}, .shared_name = "numbers"}, "c");
  auto s = session::local();
  s.run(lookup_table_insert(first, key_one, key_one));
  CHECK(to_scalar<int64_t>(s.fetch(lookup_table_size_v2(second))) == 1);
  CHECK_THROWS_WITH(
      s.fetch(lookup_table_size(other_table)),
      Catch::Contains("table 'numbers' exists as i64 to i64[], and is declared again as i64 to "
                      "f32[]"));
}

TEST_CASE("a table itself is no value") {
  graph_builder g;
  auto table = hash_table(g, dtype::i64, dtype::i64, {}, "t");
  auto s = session::local();
  CHECK_THROWS_WITH(s.fetch(table), Catch::Contains("is a table, which has no value"));
  CHECK_THROWS_WITH(s.fetch(identity(table)),
                    Catch::Contains("input 0 must be a value, and 't' is a table"));
}

TEST_CASE("a deterministic session uses a table in the order in which its nodes were added") {
  graph_builder g;
  auto key = tensor::vector<int64_t>({1}), value = tensor::vector<int64_t>({2});
  auto table = mutable_hash_table(g, dtype::i64, dtype::i64);
  auto before = lookup_table_find(table, key, int64_t{0});
  auto* insert = lookup_table_insert(table, key, value);
  auto after = lookup_table_find(table, key, int64_t{0});
  auto* remove = lookup_table_remove_v2(table, key);
  auto size = lookup_table_size(table);
  auto s = session::local({.threads = {.inter_op = 2}, .deterministic = true});
  for (int i = 0; i < 10; ++i) {
    auto results = s.run({}, {before, after, size}, {insert, remove});
    CHECK(results[0].values<int64_t>()[0] == 0);
    CHECK(results[1].values<int64_t>()[0] == 2);
    CHECK(to_scalar<int64_t>(results[2]) == 0);
  }
}

} // namespace troupe::test::lookup_test
