"""Contract review (合同审查): common clauses of labour, lease, loan and sale contracts against the articles that govern them."""
