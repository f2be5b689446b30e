/* The calls of GNU's OpenMP that the kernels use, by threads of POSIX that are joined at the end.
 *
 * ThreadSanitizer cannot see how GNU's own library hands work from thread to thread and reports
 * races that are none; of pthread_create and pthread_join it knows. For tools/sanitize alone: each
 * loop creates its threads anew. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static __thread int thread_number;

struct Member {
    void (*work)(void *);
    void *data;
    int number;
};

static void *run(void *argument) {
    struct Member *member = argument;
    thread_number = member->number;
    member->work(member->data);
    return NULL;
}

int omp_get_max_threads(void) {
    const char *named = getenv("OMP_NUM_THREADS");
    int count = named ? atoi(named) : 0;
    return count > 0 ? count : 4;
}

int omp_get_thread_num(void) { return thread_number; }

double omp_get_wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void GOMP_parallel(void (*work)(void *), void *data, unsigned wanted, unsigned flags) {
    int count = wanted ? (int)wanted : omp_get_max_threads();
    int before = thread_number, started = 1;
    pthread_t threads[count];
    struct Member members[count];
    (void)flags;
    for (int number = 1; number < count; number++) {
        members[number] = (struct Member){work, data, number};
        if (pthread_create(&threads[number], NULL, run, &members[number]) != 0)
            abort(); /* a loop with fewer threads than it was told would lose work */
        started++;
    }
    thread_number = 0;
    work(data);
    thread_number = before;
    for (int number = 1; number < started; number++)
        pthread_join(threads[number], NULL);
}
