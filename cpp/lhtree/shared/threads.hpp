// Threads that live for one call, and the watch that lets a person stop it.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>

namespace lhtree {

// Thrown where work ends early because the watch was told to stop.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped"; }
};

// Long loops call check() at least every few milliseconds. In the thread that made the watch it asks `poll`,
// now and then, whether to go on (Python: signals, progress); in every thread it throws once the answer was
// no.
class Watch {
  public:
    using Poll = std::function<bool(std::size_t n_done)>;  // false: stop

    Watch() = default;
    explicit Watch(Poll poll) : poll_(std::move(poll)), last_(Clock::now()) {}

    void check();
    // One more of the tasks that `poll` is told of is done.
    void finish_one() { n_done_.fetch_add(1, std::memory_order_relaxed); }
    void stop() { is_stopped_.store(true, std::memory_order_relaxed); }

  private:
    using Clock = std::chrono::steady_clock;
    Poll poll_;
    std::thread::id owner_ = std::this_thread::get_id();
    Clock::time_point last_;
    std::atomic<std::size_t> n_done_{0};
    std::atomic<bool> is_stopped_{false};
};

void run_on_threads(std::size_t n_tasks, std::size_t n_threads, Watch& watch,
                    const std::function<void(std::size_t)>& task);

// Runs task(0) … task(n_tasks - 1) on up to n_threads threads, this one included, which take the next task
// when they are free. Waiting threads sleep. The first exception stops the rest and is thrown here.
template <class Task>
void run(std::size_t n_tasks, std::size_t n_threads, Watch& watch, const Task& task) {
    if (n_threads > 1 && n_tasks > 1) return run_on_threads(n_tasks, n_threads, watch, std::cref(task));
    for (std::size_t i = 0; i < n_tasks;
         ++i) {  // one row is scored in less time than a std::function is made
        watch.check();
        task(i);
    }
}

}  // namespace lhtree
