// Work shared among threads, and the two words spoken with whoever waits for it: how far, and stop.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace spinney {

struct Control {
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> done{0}, total{0};
    // Where no thread could be started to watch the clock, the one that works does so itself from time to time.
    std::function<void()> watch;
    std::thread::id watcher;

    bool asked() {
        using namespace std::chrono;
        if (watch && watcher == std::this_thread::get_id() && steady_clock::now() - watched_ > milliseconds(50)) {
            watched_ = steady_clock::now();
            watch();
        }
        return stop.load(std::memory_order_relaxed);
    }

private:
    std::chrono::steady_clock::time_point watched_{};
};

// Leaves a family that takes long when the work is to stop; caught by whoever asked for the family.
struct Stopped {};

// The control of what this thread works at. Leaves and cells know nothing of controls and are called in many ways, so it
// is not handed down to them: they call look() once in some ten thousand rows.
class Listening {
public:
    explicit Listening(Control* control) : before_(std::exchange(current_, control)) {}
    Listening(const Listening&) = delete;
    ~Listening() { current_ = before_; }
    static Control* current() { return current_; }
    static void look() {
        if (current_ && current_->asked()) throw Stopped{};
    }

private:
    static inline thread_local Control* current_ = nullptr;
    Control* before_;
};

// Looks around for about a tenth of a millisecond before going to sleep: what is waited for often comes within
// microseconds, and waking a sleeping thread takes tens of them.
template <class T, class Done>
void await(std::atomic<T>& value, Done done) {
    for (int look = 0; look < 200000; ++look)
        if (done(value.load())) return;
    for (T now; !done(now = value.load());) value.wait(now);
}

// A thread that is kept between calls, asleep: starting one costs as much as scoring some hundred families, and its
// memory would be mapped anew each time. It keeps nothing of a call.
struct Helper {
    std::function<void()> work;
    std::atomic<int> busy{0};
};

// A thread for this work: one that sleeps, or a new one; null if there is none to be had.
Helper* acquire_helper(std::function<void()> work);
// Waits for the end of its work.
void release_helper(Helper* helper);

// Threads that work through one list of tasks after another; the caller is the first of them.
// Tasks come in no particular order and each writes only its own results, so the outcome does not depend on the number
// of threads.
class Team {
public:
    Team(int threads, Control& control) : control_(control) {
        helpers_.reserve(std::max(threads, 1));          // nothing may fail once the first has begun
        for (int t = 1; t < threads; ++t)
            if (Helper* helper = acquire_helper([this, t] { wait_for_work(t); })) helpers_.push_back(helper);
    }
    Team(const Team&) = delete;
    ~Team() {
        dismiss();
        for (Helper* helper : helpers_) release_helper(helper);
    }
    // No more work: the threads leave while the caller goes on, and are waited for at the end of the team.
    void dismiss() {
        leaving_ = true;
        ++round_;
        round_.notify_all();
    }
    int size() const { return static_cast<int>(helpers_.size()) + 1; }

    // work(thread, task) for every task, until the control says stop. The first exception comes back.
    void run(std::size_t tasks, const std::function<void(int, std::size_t)>& work) { share(tasks, work, true); }
    // Every task, whatever the control says: what must be done after a stop, and is brief.
    void finish(std::size_t tasks, const std::function<void(int, std::size_t)>& work) { share(tasks, work, false); }

private:
    void share(std::size_t tasks, const std::function<void(int, std::size_t)>& work, bool until_stop) {
        until_stop_ = until_stop;
        work_ = &work;
        tasks_ = tasks;
        next_ = 0;
        failure_ = nullptr;
        open_ = true;
        ++round_;
        round_.notify_all();
        take_tasks(0);
        open_ = false;                                   // whoever has not come by now is not waited for
        await(inside_, [](int threads) { return threads == 0; });
        if (failure_) std::rethrow_exception(failure_);
    }
    void wait_for_work(int thread) {
        for (std::uint64_t seen = 0;;) {
            await(round_, [seen](std::uint64_t now) { return now != seen; });
            seen = round_;
            if (leaving_) return;
            ++inside_;                                   // first in, then a look whether it is open: the caller does the reverse
            if (open_) take_tasks(thread);
            if (--inside_ == 0) inside_.notify_one();
        }
    }
    void take_tasks(int thread) {
        Listening listening(until_stop_ ? &control_ : nullptr);
        try {
            for (std::size_t task; !(until_stop_ && control_.asked()) && (task = next_++) < tasks_;) (*work_)(thread, task);
        } catch (const Stopped&) {                       // and so do the others, each at its next look
        } catch (...) {
            std::lock_guard guard(lock_);
            if (!failure_) failure_ = std::current_exception();
            next_ = tasks_;
        }
    }

    Control& control_;
    const std::function<void(int, std::size_t)>* work_ = nullptr;
    std::size_t tasks_ = 0;
    bool until_stop_ = true;
    std::atomic<std::size_t> next_{0};
    std::atomic<int> inside_{0};
    std::atomic<std::uint64_t> round_{0};
    std::atomic<bool> open_{false}, leaving_{false};
    std::exception_ptr failure_;
    std::mutex lock_;
    std::vector<Helper*> helpers_;
};

}  // namespace spinney
