! SPDX-License-Identifier: BSD-2-Clause
! 10 Unstructured: a closure by message passing in a finite-volume solver on a triangulated sphere.
!
! What you learn: how to give Tenon the lists that such a code has (mesh.f90); how to use its ghost exchange and the
! adjoint of this in the solver's own arrays q(field, cell) (solver.f90); how to create message passing on the cells
! (closure.f90), and to train it while the solver runs, through four of its steps (window.f90).
!
! The same solver runs on a fine and on a coarse mesh. The closure adds fluxes to the coarse one, and learns from the
! average of the fine flow (truth.f90). It is then used from a start that it has never seen, beside the bare coarse
! mesh. The mesh is divided by recursive coordinate bisection, and the results do not depend on the number of processes.
!
!   mpiexec -n 4 fortran_10_unstructured
!   mpiexec -n 4 fortran_10_unstructured -level 4 -refinement 2 -tenon_log_view
!   mpiexec -n 4 fortran_10_unstructured -fields sphere          writes sphere.xmf for ParaView
program unstructured
  use mpi_f08
  use sphere_closure
  use sphere_mesh
  use sphere_solver
  use sphere_truth
  use sphere_window
  use tenon
  implicit none
  integer, parameter :: reports = 4, windows = 10, unseen = 1000
  real(real64), parameter :: step_over_side = 0.15_real64, rate = 1e-2_real64
  integer :: level, refinement, training_steps, use_steps, rank
  integer, allocatable :: owner(:)
  type(mesh_t) :: mesh
  type(solver_t) :: solver
  type(truth_t) :: truth
  type(window_t) :: window
  type(closure_t) :: closure
  real(real64), allocatable, target :: samples(:, :, :), bare(:, :), closed(:, :)
  character(len=:), allocatable :: field_files ! '' for none
  type(tenon_field_series) :: series
  type(tenon_dtensor) :: shown(3) ! placed on the truth's samples, bare and closed

  call declare_int('level', '3', 'divisions of the icosahedron for the coarse mesh')
  call declare_int('refinement', '1', 'further divisions for the fine mesh')
  call declare_int('train', '300', 'training steps')
  call declare_int('use', '80', 'time steps of the comparison')
  call tenon_options_declare('10_unstructured', 'fields', TENON_OPTION_STRING, '', &
    'name of files for ParaView with the flows of the comparison')
  call tenon_options_own_command_line()
  call tenon_initialize('10 Unstructured: message passing in a solver'//new_line('a'))
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call tenon_options_get_int('level', level, prefix='-')
  call tenon_options_get_int('refinement', refinement, prefix='-')
  call tenon_options_get_int('train', training_steps, prefix='-')
  call tenon_options_get_int('use', use_steps, prefix='-')
  call tenon_options_get_string('fields', field_files, prefix='-')
  call create()
  call truth_start(truth, 0)
  call run_truth()
  call window_check(window, closure, samples(:, :, 1), samples(:, :, 2:), rank)
  call train()
  call use_closure()
  call closure_destroy(closure)
  call truth_destroy(truth)
  call mesh_destroy(mesh)
  call tenon_finalize()
contains
  subroutine declare_int(name, value, help)
    character(len=*), intent(in) :: name, value, help
    call tenon_options_declare('10_unstructured', name, TENON_OPTION_INT, value, help)
  end subroutine declare_int

  subroutine create()
    real(real64) :: dt
    dt = step_over_side/2**level ! sides of level 0 are about 1 long
    call mesh_partition(MPI_COMM_WORLD, level, owner)
    call mesh_create(MPI_COMM_WORLD, level, level, owner, mesh)
    call solver_create(mesh, dt, solver)
    call truth_create(mesh, owner, refinement, dt, truth)
    call closure_create(solver, steps, closure)
    call window_create(solver, window)
    call create_fields(mesh, steps + 1, samples)
    call create_field(mesh, bare)
    call create_field(mesh, closed)
    if (rank == 0) print '(2(a, i0), 2(a, f7.5))', 'coarse mesh ', mesh%cells, ' cells, truth ', truth%mesh%cells, &
      ' cells, time step ', dt, ' and ', truth%solver%dt
  end subroutine create

  ! samples <- the truth now and after each step of a window.
  subroutine run_truth()
    integer :: n
    call truth_sample(truth, samples(:, :, 1))
    do n = 1, steps
      call truth_step(truth)
      call truth_sample(truth, samples(:, :, n + 1))
    end do
  end subroutine run_truth

  ! While the truth runs, the closure learns the steps that it has made, and forgets them.
  subroutine train()
    real(real64) :: loss, total
    integer :: step
    total = 0
    do step = 0, training_steps - 1
      if (mod(step, windows) == 0) call truth_start(truth, step/windows)
      call run_truth()
      call window_forward(window, closure, samples(:, :, 1), samples(:, :, 2:), loss)
      call window_backward(window, closure)
      call tenon_optimizer_set_learning_rate(closure%optimizer, rate*(1 - 0.9_real64*step/training_steps))
      call tenon_optimizer_step(closure%optimizer)
      total = total + loss
      if ((step + 1)*reports/training_steps == step*reports/training_steps) cycle
      if (rank == 0) print '(a, i4, a, f6.4)', 'training step ', step + 1, ': loss ', total*reports/training_steps
      total = 0
    end do
  end subroutine train

  ! The root mean square of the difference, all fields together.
  real(real64) function distance(p, q)
    real(real64), intent(in) :: p(:, :), q(:, :)
    distance = sqrt(mesh_dot(mesh, p - q, p - q)/(fields*mesh%cells))
  end function distance

  ! 2.30e-03, as C prints it.
  function scientific(value) result(text)
    real(real64), intent(in) :: value
    character(len=8) :: text
    write (text, '(es8.2e2)') value
    text(5:5) = 'e'
  end function scientific

  ! Each cell is a triangle of its own, since the solver does not number the corners.
  subroutine open_fields()
    integer :: none(0)
    if (field_files == '') return
    call tenon_field_series_create(MPI_COMM_WORLD, field_files, 3, series)
    call tenon_field_series_set_mesh(series, mesh%map, 'triangle', none, reshape(mesh%corners, [3*sides*mesh%owned]))
    call show(shown(1), samples(:, :, 1), 'truth')
    call show(shown(2), bare, 'bare')
    call show(shown(3), closed, 'closed')
  end subroutine open_fields

  subroutine show(field, flow, name)
    type(tenon_dtensor), intent(out) :: field
    real(real64), intent(inout), target :: flow(:, :)
    character(len=*), intent(in) :: name
    call tenon_dtensor_create(mesh%plain, TENON_FLOAT64, field)
    call tenon_place(field, flow(:, :mesh%owned), array=flow)
    call tenon_field_series_add_tensor(series, field, name, name//'_h,'//name//'_mx,'//name//'_my,'//name//'_mz')
  end subroutine show

  subroutine close_fields()
    integer :: n
    if (field_files == '') return
    call tenon_destroy(series)
    do n = 1, 3
      call tenon_destroy(shown(n))
    end do
  end subroutine close_fields

  ! The coarse mesh with and without the closure, from a start that was not trained on.
  subroutine use_closure()
    real(real64) :: mass
    integer :: step
    call truth_start(truth, unseen)
    call truth_sample(truth, bare)
    closed = bare
    mass = mesh_mass(mesh, closed)
    call open_fields()
    if (rank == 0) print '(a)', 'error          bare    closed  closed / bare'
    do step = 1, use_steps
      call truth_step(truth)
      call solver_step(solver, bare, solver%stages)
      call solver_step(solver, closed, solver%stages)
      call closure_apply(closure, .false., solver%stages(:, :, 1), closed)
      if (step*reports/use_steps == (step - 1)*reports/use_steps) cycle
      call truth_sample(truth, samples(:, :, 1))
      call report(step, distance(bare, samples(:, :, 1)), distance(closed, samples(:, :, 1)))
      if (field_files /= '') call tenon_field_series_write(series, step, step*solver%dt)
    end do
    call close_fields()
    mass = abs(mesh_mass(mesh, closed)/mass - 1)
    if (rank == 0) print '(3a)', 'mass with the closure: relative change ', &
      merge('below', 'above', mass < 1e-13_real64), ' 1e-13'
  end subroutine use_closure

  subroutine report(step, error, closed_error)
    integer, intent(in) :: step
    real(real64), intent(in) :: error, closed_error
    if (rank == 0) print '(a, i4, 2(2x, a), 11x, f4.2)', 'step ', step, scientific(error), scientific(closed_error), &
      closed_error/error
  end subroutine report
end program unstructured
